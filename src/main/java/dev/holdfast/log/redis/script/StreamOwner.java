package dev.holdfast.log.redis.script;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Text that records the owner of a stream: the id of a replica, a space, and a fence. The fence
 * tells two owners apart, also when both are the same replica.
 */
public final class StreamOwner {

  /** The owner of a shared stream. No replica has this id. */
  public static final String NOBODY = "-";

  private StreamOwner() {}

  /** The text for a replica with a new fence. */
  public static String withNewFence(String replica) {
    return replica + ' ' + newFence();
  }

  /** A random fence that no owner had before. */
  public static String newFence() {
    // It need not be secret, and the replica beside it is unique.
    return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
  }

  /** The id of the replica in the text of an owner or of a tail. */
  public static String replicaOf(String recorded) {
    return recorded.split(" ", 2)[0];
  }
}
