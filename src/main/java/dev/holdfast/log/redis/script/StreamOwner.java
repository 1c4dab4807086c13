package dev.holdfast.log.redis.script;

import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * Text that records the owner of a stream: the id of a replica, a space, and a fence. The fence
 * tells two owners apart, also when both are the same replica.
 */
public final class StreamOwner {

  /** The owner of a shared stream. No replica has this id. */
  static final String NOBODY = "-";

  private static final int FENCE_BYTES = 8;

  private StreamOwner() {}

  /** The text for a replica with a new fence. */
  public static String withNewFence(String replica) {
    return replica + ' ' + newFence();
  }

  /** A random fence that no owner had before. */
  public static String newFence() {
    byte[] fence = new byte[FENCE_BYTES];
    new SecureRandom().nextBytes(fence);
    return HexFormat.of().formatHex(fence);
  }

  /** The id of the replica in the text of an owner or of a tail. */
  public static String replicaOf(String recorded) {
    return recorded.split(" ", 2)[0];
  }
}
