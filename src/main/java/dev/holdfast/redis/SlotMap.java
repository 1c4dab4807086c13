package dev.holdfast.redis;

import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.impl.RequestImpl;
import io.vertx.redis.client.impl.ZModem;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Assigns the hash slots of a cluster to its servers, as one of them reports it. Immutable. */
final class SlotMap {

  private static final int SLOTS = 16_384;

  /** Enough tags to hit every slot. */
  private static final int MAX_TAGS = 20 * SLOTS;

  private final @Nullable ServerAddress[] primaries = new ServerAddress[SLOTS];
  private final Set<ServerAddress> distinct = new LinkedHashSet<>();
  private final Set<ServerAddress> servers = new LinkedHashSet<>();

  /**
   * Reads the reply to {@code CLUSTER SLOTS}: first and last slot, primary, replicas.
   *
   * @param reporter the server that replied
   */
  SlotMap(Response ranges, ServerAddress reporter) {
    for (Response range : ranges) {
      ServerAddress primary = address(range.get(2), reporter);
      Arrays.fill(primaries, number(range.get(0)), number(range.get(1)) + 1, primary);
      distinct.add(primary);
      for (int i = 2; i < range.size(); i++) {
        servers.add(address(range.get(i), reporter));
      }
    }
  }

  private static ServerAddress address(Response server, ServerAddress reporter) {
    Response host = server.get(0);
    return ServerAddress.reportedAs(
        host == null ? "" : host.toString(), number(server.get(1)), reporter);
  }

  private static int number(Response reply) {
    return Integer.parseInt(reply.toString());
  }

  /** The servers that have slots. */
  Set<ServerAddress> primaries() {
    return distinct;
  }

  /**
   * The slot of a command's keys, which are all in one slot; -1 for a command without keys.
   *
   * <p>Uses internal classes of Vert.x, since nothing else knows which arguments are keys.
   */
  static int slot(Request request) {
    List<byte[]> keys = ((RequestImpl) request).keys();
    return keys.isEmpty() ? -1 : ZModem.generate(keys.getFirst());
  }

  /** The slot of a key. */
  static int slot(String key) {
    return ZModem.generate(key);
  }

  /** The server that has a slot; null when none has. */
  @Nullable ServerAddress primary(int slot) {
    return primaries[slot];
  }

  /** For each server that has slots, a hash tag that hashes to one of them. */
  Map<ServerAddress, String> hashTags() {
    Map<ServerAddress, String> tags = new LinkedHashMap<>();
    Set<ServerAddress> missing = new HashSet<>(distinct);
    for (int i = 0; i < MAX_TAGS && !missing.isEmpty(); i++) {
      String tag = "{" + i + "}";
      ServerAddress primary = primaries[slot(tag)];
      if (primary != null && missing.remove(primary)) {
        tags.put(primary, tag);
      }
    }
    return tags;
  }

  Set<ServerAddress> allServersAnd(Collection<ServerAddress> others) {
    Set<ServerAddress> all = new LinkedHashSet<>(servers);
    all.addAll(others);
    return all;
  }
}
