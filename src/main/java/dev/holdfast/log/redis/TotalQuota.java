package dev.holdfast.log.redis;

import dev.holdfast.log.LogKey;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.SessionSize;
import dev.holdfast.log.redis.write.StreamReports;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the events of all sessions within a number of bytes. Scripts count the bytes of each
 * session exactly, but a cluster has no script for the keys of all sessions. So every replica
 * reports the sessions that it has written once per interval, and one of them purges while the sum
 * is too large: first delivered streams, then the largest session of the client that has the most
 * bytes. So no client can take the place of those that need less. Between two reports, the sum can
 * exceed the quota by what is written meanwhile.
 */
final class TotalQuota {

  private static final Logger LOG = Logger.getLogger(TotalQuota.class);

  /** Longer than any session lives. */
  private static final Duration RETENTION = Duration.ofDays(60);

  /** Time between two checks by a replica that has nothing to report, in case others are lost. */
  private static final Duration CHECK_INTERVAL = Duration.ofSeconds(5);

  /** The most sessions in one run of a script. */
  private static final int MOST_SESSIONS = 64;

  /** The most steps of purging until the next report. */
  private static final int MOST_STEPS = 512;

  private final RedisClient client;
  private final RedisKeys keys;
  private final String replica;
  private final long maxBytes;
  private final long maxClientBytes;
  private final StreamReports reports;
  private final RedisScript recordSizes;
  private final RedisScript shrinkSession;

  /** Nano time of the last check that found nothing to purge. */
  private volatile long checked = System.nanoTime() - CHECK_INTERVAL.toNanos();

  TotalQuota(
      RedisClient client,
      RedisKeys keys,
      String replica,
      long maxBytes,
      long maxClientBytes,
      StreamReports reports) {
    this.client = client;
    this.keys = keys;
    this.replica = replica;
    this.maxBytes = maxBytes;
    this.maxClientBytes = maxClientBytes;
    this.reports = reports;
    this.recordSizes = new RedisScript(client, StreamScripts.class, "record-sizes.lua");
    this.shrinkSession = StreamScripts.load(client, "quotas.lua", "shrink-session.lua");
  }

  /**
   * Reports the sessions that this replica has written, and purges while all, or those of a client,
   * have too many bytes.
   */
  void keep() {
    Map<LogKey, SessionSize> sizes = reports.reportAll();
    if (sizes.isEmpty() && System.nanoTime() - checked < CHECK_INTERVAL.toNanos()) {
      return;
    }
    try {
      List<Object> report = new ArrayList<>();
      for (var each : sizes.entrySet()) {
        report.addAll(entry(each.getKey().value(), each.getValue()));
        if (report.size() >= MOST_SESSIONS * 4) {
          record(report, Set.of());
          report.clear();
        }
      }
      List<Response> next = record(report, Set.of());
      if (next.isEmpty()) {
        checked = System.nanoTime();
      }
      purge(next);
    } catch (RedisException away) {
      sizes.keySet().forEach(reports::used);
      LOG.debugf("the quota of all sessions was not checked: %s", away.getMessage());
    }
  }

  /**
   * Purges in steps, so that other commands have their turn, from the session that is next. Passes
   * over a session whose server is away.
   */
  private void purge(List<Response> next) {
    Set<String> exhausted = new HashSet<>();
    for (int step = 0; step < MOST_STEPS && !next.isEmpty(); step++) {
      String session = next.get(0).toString();
      String key = keys.session(session);
      List<Object> part = List.of(next.get(1), next.get(2));
      String shrunk =
          client.<@Nullable String>unlessAway(
              key, () -> shrinkSession.runForText(List.of(key), part), null);
      SessionSize left = shrunk == null ? null : SessionSize.parse(shrunk);
      if (left == null || !left.more()) {
        exhausted.add(session);
      }
      next = record(left == null ? List.of() : entry(session, left), exhausted);
    }
  }

  private static List<Object> entry(String session, SessionSize size) {
    return List.of(session, size.bytes(), size.delivered(), size.client());
  }

  /** Returns the session to purge, the bytes that it may keep, and what of it to purge. */
  private List<Response> record(List<Object> report, Set<String> exhausted) {
    return recordSizes.runForList(
        keys.allSizes(),
        replica,
        maxBytes,
        maxClientBytes,
        RETENTION.toMillis(),
        exhausted.size(),
        List.copyOf(exhausted),
        report);
  }

  /** The used part of the quota. */
  OptionalDouble used() {
    Response sum = client.send(Request.cmd(Command.GET, keys.allSizes().get(1)));
    return OptionalDouble.of(sum == null ? 0 : Double.parseDouble(sum.toString()) / maxBytes);
  }
}
