package dev.holdfast.log.redis.write;

import dev.holdfast.log.LogKey;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.write.UnreportedStream.Delivery;
import dev.holdfast.log.redis.write.UnreportedStream.Reader;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
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

  /** Bytes that Redis needs for an event besides its payload. */
  private static final int EVENT_BYTES = 64;

  /** Readers fetch so many bytes too many when a stream suddenly gets larger events. */
  private static final long MOST_BYTES = 256 * 1024;

  /** The part of a quota that is not reported at once. */
  private static final int QUOTA_PART = 16;

  /**
   * The most streams in one report, and the most streams and sessions in reports that are sent
   * together: other commands wait behind them.
   */
  private static final int MOST_STREAMS = 128;

  /** The most runs of a script that has left something to do, until others have their turn. */
  private static final int MOST_RUNS = 128;

  /** Bounds the memory. Redis learns of the streams of further sessions when they are used. */
  private static final int MOST_EXPIRIES = 100_000;

  private final AppendScripts scripts;
  private final long mostBytes;
  private final Retention retention;
  private final Map<LogKey, Unreported> sessions = new ConcurrentHashMap<>();

  /** Nano time at which all complete streams of sessions have expired. */
  private final Map<Expiry, Long> expiries = new ConcurrentHashMap<>();

  /** The end of the streams of a session that are kept for a time. */
  private record Expiry(LogKey session, Duration time) {}

  /** Creates reports to a Redis with these quotas. */
  public StreamReports(AppendScripts scripts, Retention retention) {
    this.scripts = scripts;
    this.retention = retention;
    long quota = Math.min(retention.maxStreamBytes(), retention.maxSessionBytes());
    this.mostBytes = Math.min(MOST_BYTES, quota / QUOTA_PART);
  }

  /** Unreported changes of a session, by stream. Not changed any more after it was taken. */
  private static final class Unreported {
    final Map<String, UnreportedStream> streams = new LinkedHashMap<>();
    long bytes;

    /** True if an earlier report has left something to do. */
    boolean again;

    Unreported add(List<UnreportedStream> added, boolean again) {
      this.again |= again;
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
   * @param reader its client, when the stream is complete
   * @return completes when the writer may continue, so that it does not get further ahead of the
   *     quotas
   */
  CompletableFuture<?> written(
      StreamRef stream, List<NewEvent> batch, boolean isNew, boolean complete, Reader reader) {
    long bytes = 0;
    long largest = 0;
    for (NewEvent event : batch) {
      largest = Math.max(largest, size(event));
      bytes += size(event) + EVENT_BYTES;
    }
    UnreportedStream added =
        new UnreportedStream(stream.name(), bytes, largest, isNew, complete, reader, Delivery.NONE);
    if (add(stream.key(), List.of(added), false) <= mostBytes) {
      return CompletableFuture.completedFuture(null);
    }
    // The quota of all sessions needs the new size.
    return reportFully(stream.key(), MOST_RUNS).thenRun(() -> used(stream.key()));
  }

  private CompletableFuture<?> reportFully(LogKey session, int runs) {
    return report(session)
        .thenCompose(size ->
            size != null && size.more() && runs > 1
                ? reportFully(session, runs - 1)
                : CompletableFuture.completedFuture(null));
  }

  /**
   * Adds a stream that was delivered to its end.
   *
   * @param keep whether it is kept as long as one that was not
   */
  public void delivered(StreamRef stream, boolean keep) {
    Delivery delivery = keep ? Delivery.UNPROVEN : Delivery.PROVEN;
    var added = List.of(UnreportedStream.delivered(stream.name(), delivery));
    long _ = add(stream.key(), added, false);
  }

  /** Adds a stream whose client has left before its end. */
  public void left(StreamRef stream) {
    long _ = add(stream.key(), List.of(UnreportedStream.left(stream.name())), false);
  }

  private static int size(NewEvent event) {
    String upstreamId = event.upstreamId();
    return event.payload().length + (upstreamId == null ? 0 : upstreamId.length());
  }

  /** Adds a session, of which the next report extends the time to live. */
  public void used(LogKey session) {
    long _ = add(session, List.of(), false);
  }

  /** Returns the bytes of the session that wait. */
  private long add(LogKey session, List<UnreportedStream> added, boolean again) {
    long[] bytes = new long[1];
    sessions.compute(
        session,
        (_, known) -> {
          Unreported sum = (known == null ? new Unreported() : known).add(added, again);
          bytes[0] = sum.bytes;
          return sum;
        });
    return bytes[0];
  }

  /** Reports all sessions. Returns the sizes of those of which Redis has heard. */
  public Map<LogKey, SessionSize> reportAll() {
    long now = System.nanoTime();
    expiries.forEach((streams, expiry) -> {
      if (now - expiry >= 0 && expiries.remove(streams, expiry)) {
        used(streams.session());
      }
    });
    Map<LogKey, SessionSize> sizes = new HashMap<>();
    Queue<LogKey> waiting = new ArrayDeque<>(sessions.keySet());
    int runs = 0;
    while (!waiting.isEmpty()) {
      Map<LogKey, CompletableFuture<@Nullable SessionSize>> reports = new HashMap<>();
      // Leaves room for other commands.
      for (int streams = 0; streams < MOST_STREAMS && !waiting.isEmpty(); streams++) {
        Unreported next = sessions.get(waiting.element());
        streams += next == null ? 0 : next.again ? MOST_STREAMS : next.streams.size();
        reports.put(waiting.element(), report(waiting.remove()));
      }
      for (var each : reports.entrySet()) {
        SessionSize size = each.getValue().join();
        if (size != null) {
          sizes.put(each.getKey(), size);
        }
        if (size != null && size.more() && runs < MOST_RUNS) {
          runs++;
          waiting.add(each.getKey());
        }
      }
    }
    return sizes;
  }

  /**
   * Reports a session without waiting. A report that fails is repeated with the next one.
   *
   * @return completes with the size of the session; null if there was nothing to report, or if it
   *     failed
   */
  public CompletableFuture<@Nullable SessionSize> report(LogKey session) {
    Unreported taken = sessions.remove(session);
    if (taken == null) {
      return CompletableFuture.completedFuture(null);
    }
    List<UnreportedStream> streams = List.copyOf(taken.streams.values());
    int first = Math.min(streams.size(), MOST_STREAMS);
    CompletableFuture<@Nullable SessionSize> last =
        report(session, streams.subList(0, first), taken.again);
    for (int from = first; from < streams.size(); from += MOST_STREAMS) {
      int to = Math.min(streams.size(), from + MOST_STREAMS);
      List<UnreportedStream> next = streams.subList(from, to);
      last =
          last.thenCompose(before ->
              report(session, next, false).thenApply(size -> before == null ? null : size));
    }
    return last;
  }

  private CompletableFuture<@Nullable SessionSize> report(
      LogKey session, List<UnreportedStream> streams, boolean again) {
    return scripts
        .report(session, streams, again)
        .<@Nullable SessionSize>handle((size, failure) -> {
          if (failure != null) {
            LOG.debugf("streams were not reported: %s", failure.getMessage());
            long _ = add(session, streams, again);
            return null;
          }
          expireLater(session, streams, size);
          if (size.more()) {
            // The script looks at the quotas of these streams again.
            long _ = add(session, streams.stream().map(UnreportedStream::reported).toList(), true);
          }
          return size;
        })
        .toCompletableFuture();
  }

  /** Remembers to report the session when complete streams have expired. */
  private void expireLater(LogKey session, List<UnreportedStream> streams, SessionSize size) {
    for (UnreportedStream each : streams) {
      boolean brief = each.delivery() == Delivery.PROVEN;
      if (brief || each.complete() || each.delivery() == Delivery.UNPROVEN) {
        Duration time = brief ? retention.completedTtl() : retention.eventTtl();
        if (size.bytes() > 0 && (brief || expiries.size() < MOST_EXPIRIES)) {
          expiries.put(new Expiry(session, time), System.nanoTime() + time.toNanos());
        }
      }
    }
  }
}
