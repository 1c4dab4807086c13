package dev.holdfast.cli;

import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisServerInfo;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks that Redis is reachable and keeps its data. */
record RedisCheck(RedisServerInfo redis, long maxBytes, InstantSource clock) {

  /** The replay window compares the gateway's clock with times from Redis. */
  private static final Duration MAX_CLOCK_DIFFERENCE = Duration.ofSeconds(2);

  /**
   * The allocator rounds sizes up by a quarter at most. Sessions, inboxes and buffers of
   * connections need memory, too, and the quota may be exceeded for a moment.
   */
  private static final double MEMORY_PER_EVENT_BYTE = 1.5;

  private static final Pattern VERSION = Pattern.compile("(\\d{1,6})\\.(\\d{1,6}).*");

  List<CheckResult> run() {
    List<CheckResult> results = new ArrayList<>();
    try {
      long start = System.nanoTime();
      redis.check();
      long millis = Duration.ofNanos(System.nanoTime() - start).toMillis();
      results.add(CheckResult.fine("store", "Redis accepts writes; one took " + millis + " ms"));
      results.add(version(redis.info("server")));
      results.add(persistence(redis.info("persistence"), () -> redis.config("save")));
      Map<String, String> memory = redis.info("memory");
      results.add(eviction(memory));
      results.add(maxMemory(memory, maxBytes));
      replication(redis.info("replication"), () -> redis.config("min-replicas-to-write"))
          .ifPresent(results::add);
      results.add(clockDifference());
    } catch (RedisException unavailable) {
      results.add(
          new CheckResult(
              "store",
              CheckResult.Verdict.STORE_UNAVAILABLE,
              "Redis accepts no writes: " + Output.message(unavailable),
              "check the Redis server and quarkus.redis.hosts"));
    }
    return results;
  }

  /**
   * @param server section "server" of INFO
   */
  static CheckResult version(Map<String, String> server) {
    String check = "version of Redis";
    String version = server.get("redis_version");
    if (version == null) {
      return unknown(check);
    }
    Matcher numbers = VERSION.matcher(version);
    int major = numbers.matches() ? Integer.parseInt(numbers.group(1)) : 0;
    int minor = numbers.matches() ? Integer.parseInt(numbers.group(2)) : 0;
    return major > 6 || (major == 6 && minor >= 2)
        ? CheckResult.fine(check, version)
        : CheckResult.wrong(check, version, "Holdfast needs Redis 6.2 or newer");
  }

  /**
   * @param info section "persistence" of INFO
   * @param snapshotRules setting "save"; empty if Redis does not report it
   */
  static CheckResult persistence(
      Map<String, String> info, Supplier<Optional<String>> snapshotRules) {
    String check = "persistence";
    String aof = info.get("aof_enabled");
    if (aof == null) {
      return unknown(check);
    }
    if (hasFailed(info, "aof_last_write_status") || hasFailed(info, "rdb_last_bgsave_status")) {
      return CheckResult.wrong(
          check, "the last write to disk failed", "check the disk of Redis and its log");
    }
    if (aof.equals("1")) {
      return CheckResult.fine(check, "append-only file");
    }
    Optional<String> rules = snapshotRules.get();
    if (rules.filter(String::isEmpty).isPresent()) {
      return CheckResult.doubtful(
          check,
          "none: a restart of Redis loses every session and stream",
          "set appendonly yes, unless replicas of Redis are enough for you");
    }
    return CheckResult.doubtful(
        check,
        "snapshots"
            + rules.map(rule -> " (save " + rule + ")").orElse("")
            + ": a crash of Redis loses everything after the last one",
        "set appendonly yes: a crash then loses at most one second");
  }

  private static boolean hasFailed(Map<String, String> info, String key) {
    return info.getOrDefault(key, "ok").equals("err");
  }

  /**
   * Checks that a primary stops without its replicas.
   *
   * @param info section "replication" of INFO
   * @param needed setting "min-replicas-to-write"; empty if Redis does not report it
   * @return empty without replicas
   */
  static Optional<CheckResult> replication(
      Map<String, String> info, Supplier<Optional<String>> needed) {
    String check = "replicas of Redis";
    String connected = info.getOrDefault("connected_slaves", "0");
    if (connected.equals("0")) {
      return Optional.empty();
    }
    return Optional.of(
        needed.get().filter("0"::equals).isEmpty()
            ? CheckResult.fine(check, connected)
            : CheckResult.doubtful(
                check,
                connected
                    + ", and min-replicas-to-write is 0: a primary that is cut off goes on"
                    + " and tells clients that their sessions are gone",
                "set min-replicas-to-write 1"));
  }

  private static CheckResult eviction(Map<String, String> memory) {
    String check = "eviction";
    String policy = memory.get("maxmemory_policy");
    if (policy == null) {
      return unknown(check);
    }
    boolean limited = !memory.getOrDefault("maxmemory", "0").equals("0");
    String found = policy + (limited ? "" : ", and no maxmemory");
    if (policy.equals("noeviction")) {
      return CheckResult.fine(check, found);
    }
    String fix = "set maxmemory-policy noeviction: all data of Holdfast expires by itself";
    return RedisServerInfo.evictionPolicy(memory).isPresent()
        ? CheckResult.wrong(check, found + ": Redis may drop sessions and streams in use", fix)
        : CheckResult.doubtful(check, found, fix);
  }

  /**
   * @param memory section "memory" of INFO
   */
  static CheckResult maxMemory(Map<String, String> memory, long maxBytes) {
    String check = "memory";
    String limit = memory.get("maxmemory");
    if (limit == null) {
      return unknown(check);
    }
    String quota = "holdfast.redis.max-bytes is " + megabytes(maxBytes);
    long max = Long.parseLong(limit);
    if (max == 0) {
      return CheckResult.fine(check, "no maxmemory; " + quota);
    }
    String found = "maxmemory is " + megabytes(max) + ", and " + quota;
    long needed = (long) (maxBytes * MEMORY_PER_EVENT_BYTE);
    return max >= needed
        ? CheckResult.fine(check, found)
        : CheckResult.doubtful(
            check,
            found + ": Redis may refuse writes before Holdfast removes events",
            "set maxmemory to "
                + megabytes(needed)
                + " or more, or lower holdfast.redis.max-bytes");
  }

  private static String megabytes(long bytes) {
    return Math.ceilDiv(bytes, 1 << 20) + " MB";
  }

  private CheckResult clockDifference() {
    String check = "clock";
    Instant before = clock.instant();
    Optional<Instant> time = redis.time();
    if (time.isEmpty()) {
      return unknown(check);
    }
    // Redis read its clock at some moment between these two.
    Instant after = clock.instant();
    Duration difference =
        Collections.max(
            List.of(
                Duration.ZERO,
                Duration.between(time.get(), before),
                Duration.between(after, time.get())));
    String found = difference.toMillis() + " ms from the clock of Redis";
    return difference.compareTo(MAX_CLOCK_DIFFERENCE) <= 0
        ? CheckResult.fine(check, found)
        : CheckResult.wrong(
            check, found, "synchronize both with NTP: holdfast.replay.window compares them");
  }

  private static CheckResult unknown(String check) {
    return CheckResult.doubtful(
        check, "Redis does not report it", "check it where Redis is managed");
  }
}
