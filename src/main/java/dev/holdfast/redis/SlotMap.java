package dev.holdfast.redis;

import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.impl.RequestImpl;
import io.vertx.redis.client.impl.ZModem;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which server of a cluster has which slots, as one of them tells it. Immutable. */
final class SlotMap {

  private static final int SLOTS = 16_384;

  /** More than enough to meet every slot. */
  private static final int MAX_TAGS = 20 * SLOTS;

  private final @Nullable RedisAddress[] primaries = new RedisAddress[SLOTS];
  private final Set<RedisAddress> distinct = new LinkedHashSet<>();
  private final Set<RedisAddress> all = new LinkedHashSet<>();

  /**
   * Reads the reply to {@code CLUSTER SLOTS}: first and last slot, primary, replicas.
   *
   * @param teller the server that was asked
   */
  SlotMap(Response ranges, RedisAddress teller) {
    for (Response range : ranges) {
      RedisAddress primary = address(range.get(2), teller);
      for (int slot = number(range.get(0)); slot <= number(range.get(1)); slot++) {
        primaries[slot] = primary;
      }
      distinct.add(primary);
      for (int i = 2; i < range.size(); i++) {
        all.add(address(range.get(i), teller));
      }
    }
  }

  private static RedisAddress address(Response server, RedisAddress teller) {
    Response host = server.get(0);
    return RedisAddress.named(host == null ? "" : host.toString(), number(server.get(1)), teller);
  }

  private static int number(Response reply) {
    return Integer.parseInt(reply.toString());
  }

  /** The servers that have slots. */
  Set<RedisAddress> primaries() {
    return distinct;
  }

  /** All servers, replicas too. */
  Set<RedisAddress> all() {
    return all;
  }

  /**
   * The slot of a command's keys, which are all in one; -1 for a command without keys.
   *
   * <p>Only what Vert.x keeps to itself knows where in a command its keys are.
   */
  static int slot(Request request) {
    List<byte[]> keys = ((RequestImpl) request).keys();
    return keys.isEmpty() ? -1 : ZModem.generate(keys.getFirst());
  }

  /** The server that has a slot; null when none has. */
  @Nullable RedisAddress primary(int slot) {
    return primaries[slot];
  }

  /** Whether each slot is some server's. */
  boolean isWhole() {
    for (RedisAddress primary : primaries) {
      if (primary == null) {
        return false;
      }
    }
    return true;
  }

  /** For each server that has slots, a hash tag in one of these. */
  Map<RedisAddress, String> tags() {
    Map<RedisAddress, String> tags = new LinkedHashMap<>();
    Set<RedisAddress> missing = new HashSet<>(distinct);
    for (int i = 0; i < MAX_TAGS && !missing.isEmpty(); i++) {
      String tag = "{" + i + "}";
      RedisAddress primary = primaries[ZModem.generate(tag)];
      if (primary != null && missing.remove(primary)) {
        tags.put(primary, tag);
      }
    }
    return tags;
  }

  /** The addresses of a map and of the seeds, each once. */
  static List<RedisAddress> everywhere(@Nullable SlotMap known, List<RedisAddress> seeds) {
    Set<RedisAddress> everywhere = new LinkedHashSet<>(seeds);
    if (known != null) {
      everywhere.addAll(known.all);
    }
    return new ArrayList<>(everywhere);
  }
}
