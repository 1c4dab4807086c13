package dev.holdfast.cli;

import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisServerInfo;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Whether Redis keeps what it is given. */
final class RedisCheck {

  /** Cursors are judged old by our clock, and their times are those of Redis. */
  private static final Duration APART = Duration.ofSeconds(2);

  private static final Pattern VERSION = Pattern.compile("(\\d{1,6})\\.(\\d{1,6}).*");

  private final RedisServerInfo redis;
  private final InstantSource clock;

  RedisCheck(RedisServerInfo redis, InstantSource clock) {
    this.redis = redis;
    this.clock = clock;
  }

  List<Finding> examine() {
    List<Finding> findings = new ArrayList<>();
    try {
      long before = System.nanoTime();
      redis.check();
      long took = Duration.ofNanos(System.nanoTime() - before).toMillis();
      findings.add(Finding.fine("store", "Redis takes writes; the first took " + took + " ms"));
      findings.add(version(redis.info("server")));
      findings.add(persistence(redis.info("persistence"), () -> redis.config("save")));
      findings.add(eviction(redis.info("memory")));
      findings.add(time());
    } catch (RedisException away) {
      findings.add(
          Finding.away(
              "store",
              "Redis takes no writes: " + Causes.of(away),
              "see to the server, or to quarkus.redis.hosts"));
    }
    return findings;
  }

  static Finding version(Map<String, String> server) {
    String name = "version of Redis";
    String version = server.get("redis_version");
    if (version == null) {
      return unknown(name);
    }
    Matcher parts = VERSION.matcher(version);
    int major = parts.matches() ? Integer.parseInt(parts.group(1)) : 0;
    int minor = parts.matches() ? Integer.parseInt(parts.group(2)) : 0;
    return major > 6 || (major == 6 && minor >= 2)
        ? Finding.fine(name, version)
        : Finding.wrong(name, version, "Holdfast needs Redis 6.2 or newer");
  }

  static Finding persistence(Map<String, String> info, Supplier<Optional<String>> rules) {
    String name = "persistence";
    String aof = info.get("aof_enabled");
    if (aof == null) {
      return unknown(name);
    }
    if (isBad(info, "aof_last_write_status") || isBad(info, "rdb_last_bgsave_status")) {
      return Finding.wrong(
          name, "the last write to disk failed", "see to the disk of Redis and to its log");
    }
    if (aof.equals("1")) {
      return Finding.fine(name, "append-only file");
    }
    Optional<String> save = rules.get();
    if (save.filter(String::isEmpty).isPresent()) {
      return Finding.doubtful(
          name,
          "none: a restart of Redis loses every session and stream",
          "appendonly yes, unless replicas of Redis are enough for you");
    }
    return Finding.doubtful(
        name,
        "snapshots"
            + save.map(rule -> " (save " + rule + ")").orElse("")
            + ": a crash of Redis loses what came after the last one",
        "appendonly yes loses a second at most");
  }

  private static boolean isBad(Map<String, String> info, String key) {
    return info.getOrDefault(key, "ok").equals("err");
  }

  private static Finding eviction(Map<String, String> memory) {
    String name = "eviction";
    String policy = memory.get("maxmemory_policy");
    if (policy == null) {
      return unknown(name);
    }
    boolean limited = !memory.getOrDefault("maxmemory", "0").equals("0");
    String found = policy + (limited ? "" : ", and no maxmemory");
    if (policy.equals("noeviction")) {
      return Finding.fine(name, found);
    }
    String mend = "maxmemory-policy noeviction: Holdfast lets everything expire by itself";
    return limited
        ? Finding.wrong(name, found + ": Redis may drop sessions and streams in use", mend)
        : Finding.doubtful(name, found, mend);
  }

  private Finding time() {
    String name = "clock";
    Instant before = clock.instant();
    Optional<Instant> theirs = redis.time();
    if (theirs.isEmpty()) {
      return unknown(name);
    }
    // By whichever of ours is nearer: the answer took a while.
    Instant after = clock.instant();
    Duration apart =
        theirs.get().isBefore(before)
            ? Duration.between(theirs.get(), before)
            : theirs.get().isAfter(after) ? Duration.between(after, theirs.get()) : Duration.ZERO;
    String found = apart.toMillis() + " ms from that of Redis";
    return apart.compareTo(APART) <= 0
        ? Finding.fine(name, found)
        : Finding.wrong(name, found, "set both by NTP: replay.window is measured across them");
  }

  private static Finding unknown(String name) {
    return Finding.doubtful(name, "Redis does not tell", "look at it where Redis is managed");
  }
}
