package dev.holdfast.log.redis.write;

import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Reports the streams of a session together: the bytes that were written, and the streams that are
 * complete or delivered to their end. So most appends need no command for them. Thread-safe.
 *
 * <p>Redis does not know of {@link #mostBytes} and one batch per session, which are beyond its
 * quotas. If this replica is lost, Redis never counts them. The streams have their own time to
 * live.
 */
public final class StreamReports {

  private static final Logger LOG = Logger.getLogger(StreamReports.class);

  /** What Redis needs for an event besides its payload. */
  private static final int EVENT_BYTES = 64;

  /** Readers fetch so many bytes too many when a stream suddenly gets larger events. */
  private static final long MOST_BYTES = 256 * 1024;

  /** The part of a quota that is not reported at once. */
  private static final int QUOTA_PART = 16;

  /** The most streams in one report. */
  private static final int MOST_STREAMS = 500;

  private final AppendScripts scripts;
  private final long mostBytes;
  private final Duration deliveredTtl;
  private final Map<String, Unreported> sessions = new ConcurrentHashMap<>();

  /** By session: when all streams have expired that were delivered, by the nano time. */
  private final Map<String, Long> expiries = new ConcurrentHashMap<>();

  /** Creates reports to a Redis with these quotas. */
  public StreamReports(AppendScripts scripts, Retention retention) {
    this.scripts = scripts;
    this.deliveredTtl = retention.completedTtl();
    long quota = Math.min(retention.maxStreamBytes(), retention.maxSessionBytes());
    this.mostBytes = Math.min(MOST_BYTES, quota / QUOTA_PART);
  }

  /** What was not reported of a session, by stream. Not changed any more after it was taken. */
  private static final class Unreported {
    final Map<String, UnreportedStream> streams = new HashMap<>();
    long bytes;

    Unreported add(List<UnreportedStream> added) {
      for (UnreportedStream stream : added) {
        streams.merge(stream.name(), stream, UnreportedStream::plus);
        bytes += stream.bytes();
      }
      return this;
    }
  }

  /**
   * Adds a batch that was written, and reports the session if too many bytes wait.
   *
   * @param isNew whether the stream had no events before
   * @return completes when the writer may continue, so that it does not get further ahead of the
   *     quotas
   */
  CompletableFuture<?> written(
      StreamRef stream, List<NewEvent> batch, boolean isNew, boolean complete) {
    long bytes = 0;
    long largest = 0;
    for (NewEvent event : batch) {
      String upstreamId = event.upstreamId();
      int size = event.payload().length + (upstreamId == null ? 0 : upstreamId.length());
      largest = Math.max(largest, size);
      bytes += size + EVENT_BYTES;
    }
    UnreportedStream added =
        new UnreportedStream(stream.name(), bytes, largest, isNew, complete, false);
    if (add(stream.session(), List.of(added)) <= mostBytes) {
      return CompletableFuture.completedFuture(null);
    }
    // The quota of all sessions needs the new size.
    return report(stream.session()).thenRun(() -> used(stream.session()));
  }

  /** Adds a stream that was delivered to its end. */
  public void delivered(StreamRef stream) {
    long _ = add(stream.session(), List.of(UnreportedStream.delivered(stream.name())));
  }

  /** Adds a session, of which the next report extends the time to live. */
  public void used(String session) {
    long _ = add(session, List.of());
  }

  /** Returns the bytes of the session that wait. */
  private long add(String session, List<UnreportedStream> added) {
    long[] bytes = new long[1];
    sessions.compute(
        session,
        (_, known) -> {
          Unreported sum = (known == null ? new Unreported() : known).add(added);
          bytes[0] = sum.bytes;
          return sum;
        });
    return bytes[0];
  }

  /** Reports all sessions. Returns the sizes of those of which Redis has heard. */
  public Map<String, SessionSize> reportAll() {
    long now = System.nanoTime();
    expiries.forEach((session, expiry) -> {
      if (now - expiry >= 0 && expiries.remove(session, expiry)) {
        used(session);
      }
    });
    Map<String, SessionSize> sizes = new HashMap<>();
    List<String> waiting = List.copyOf(sessions.keySet());
    // Leaves room for other commands.
    for (int from = 0; from < waiting.size(); from += RedisClient.BATCH_SIZE) {
      int to = Math.min(waiting.size(), from + RedisClient.BATCH_SIZE);
      Map<String, CompletableFuture<@Nullable SessionSize>> reports = new HashMap<>();
      waiting.subList(from, to).forEach(session -> reports.put(session, report(session)));
      reports.forEach((session, report) -> {
        SessionSize size = report.join();
        if (size != null) {
          sizes.put(session, size);
        }
      });
    }
    return sizes;
  }

  /**
   * Reports a session without waiting. A report that fails is repeated with the next one.
   *
   * @return completes with the size of the session; null if there was nothing to report, or if it
   *     failed
   */
  public CompletableFuture<@Nullable SessionSize> report(String session) {
    Unreported taken = sessions.remove(session);
    if (taken == null) {
      return CompletableFuture.completedFuture(null);
    }
    List<UnreportedStream> streams = List.copyOf(taken.streams.values());
    CompletableFuture<@Nullable SessionSize> last = null;
    for (int from = 0; last == null || from < streams.size(); from += MOST_STREAMS) {
      int to = Math.min(streams.size(), from + MOST_STREAMS);
      CompletableFuture<@Nullable SessionSize> sent = report(session, streams.subList(from, to));
      last =
          last == null
              ? sent
              : last.thenCombine(sent, (before, size) -> before == null ? null : size);
    }
    return last;
  }

  private CompletableFuture<@Nullable SessionSize> report(
      String session, List<UnreportedStream> streams) {
    return scripts
        .report(session, streams)
        .<@Nullable SessionSize>handle((size, failure) -> {
          if (failure != null) {
            LOG.debugf("streams were not reported: %s", failure.getMessage());
            long _ = add(session, streams);
            return null;
          }
          if (streams.stream().anyMatch(UnreportedStream::delivered)) {
            expiries.put(session, System.nanoTime() + deliveredTtl.toNanos());
          }
          return size;
        })
        .toCompletableFuture();
  }
}
