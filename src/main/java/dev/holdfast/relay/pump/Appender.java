package dev.holdfast.relay.pump;

import dev.holdfast.budget.LogRate;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.stream.CallListener;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.retry.Backoff;
import dev.holdfast.text.Reason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Appends the events of one {@link Pump} to the log and retries while the store is away. The
 * upstream waits meanwhile. Events that waited for too long go to {@link OutageDelivery}.
 *
 * <p>Owned by the thread that runs the pump.
 */
final class Appender {

  private static final Logger LOG = Logger.getLogger(Appender.class);

  /** During an outage every stream waits. */
  private static final LogRate WAITS = new LogRate(Duration.ofSeconds(1));

  /** A slow client makes its server wait many times. */
  private static final LogRate HELD_BACK = new LogRate(Duration.ofSeconds(1));

  /** Clients wait for the end of a stream: memory that is short may be free again soon. */
  static final Backoff ENDING = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1), 60, 0);

  /** The hold of a stream that the store did not serve within an earlier hold. */
  private static final Duration SHORT_HOLD = Duration.ofMillis(100);

  /** A full Redis refuses large appends, and takes small ones between them. */
  private static final Duration DISTRUST = Duration.ofMinutes(1);

  private final StreamWriter writer;
  private final Duration hold;
  private final StreamListener listener;
  private final CallListener.Call call;
  private final @Nullable TraceListener traces;
  private final OutageDelivery outage;

  /** True if the current outage was logged. */
  private boolean warned;

  /** Nano time at which events last went past the log; null if they never did. */
  private @Nullable Long passedAt;

  /** Nano time at which the append began that the next one repeats; null if it repeats none. */
  private @Nullable Long begun;

  Appender(
      StreamWriter writer,
      String upstreamName,
      Duration hold,
      RelayListener relay,
      @Nullable TraceListener traces) {
    this.writer = writer;
    this.hold = hold;
    this.listener = relay.streamsOf(upstreamName);
    this.call = relay.calls().written(writer.stream());
    this.traces = traces;
    this.outage = new OutageDelivery(writer, relay);
  }

  /**
   * Returns when the log has the events, or when {@link OutageDelivery} took them. Waits while a
   * connected client is too far behind.
   */
  void append(List<NewEvent> events) throws InterruptedException {
    if (!writer.hasRoom(events)) {
      HELD_BACK.info(LOG, "server waits for its client stream=%s", writer.stream());
      listener.heldBack(true);
      try {
        writer.awaitRoom(events);
      } finally {
        listener.heldBack(false);
      }
    }
    if (traces == null) {
      write(events);
    } else {
      traces.append(writer.stream(), events.size(), () -> write(events));
    }
  }

  /**
   * Begins an append as {@link StreamWriter#appendLater} does. After a failure, {@link #append}
   * must get the same events.
   *
   * @return false if a thread must append
   */
  boolean appendLater(List<NewEvent> events, Consumer<Boolean> then) {
    if (outage.isActive() || !writer.hasRoom(events)) {
      return false;
    }
    long start = System.nanoTime();
    return writer.appendLater(
        events,
        appended -> {
          try {
            if (appended) {
              warned = false;
              listener.appended(events.size(), since(start));
              call.appended(events);
            } else {
              begun = start;
            }
          } finally {
            then.accept(appended);
          }
        });
  }

  private void write(List<NewEvent> events) throws InterruptedException {
    if (outage.isActive() && deliver(events)) {
      return;
    }
    long start = begun == null ? System.nanoTime() : begun;
    begun = null;
    Duration most =
        passedAt != null && since(passedAt).compareTo(DISTRUST) < 0 ? shortHold() : hold;
    for (Backoff backoff = Backoff.STORE; ; backoff = backoff.next()) {
      // A process that was frozen for longer than the hold makes an attempt after its thaw, too.
      boolean isLast = outage.isActive() || since(start).compareTo(most) >= 0;
      try {
        boolean isUnattended = hasResult(events) && !writer.isFollowed();
        writer.append(events);
        listener.appended(events.size(), since(start));
        call.appended(events);
        if (isUnattended && !writer.isFollowed()) {
          listener.result(StreamListener.Result.UNATTENDED);
        }
        outage.end();
        warned = false;
        return;
      } catch (LogException.StoreUnavailable | LogException.OutcomeUnknown failure) {
        warn(failure);
      }
      if (isLast && deliver(events)) {
        return;
      }
      Duration left = most.minus(since(start));
      boolean isNear = !isLast && left.compareTo(backoff.delay()) < 0;
      Thread.sleep(isNear ? Duration.ofNanos(Math.max(left.toNanos(), 0)) : backoff.delay());
    }
  }

  /** A cancelled call ends with an empty event. A session with one stream has one client. */
  private boolean hasResult(List<NewEvent> events) {
    return events.getLast().last()
        && events.getLast().payload().length > 0
        && writer.keptIn().equals(writer.stream())
        && StreamNames.answersRequests(writer.stream());
  }

  private Duration shortHold() {
    return hold.compareTo(SHORT_HOLD) < 0 ? hold : SHORT_HOLD;
  }

  private boolean deliver(List<NewEvent> events) {
    if (!outage.deliver(events)) {
      return false;
    }
    passedAt = System.nanoTime();
    call.appended(events);
    return true;
  }

  /** Appends the end of the stream, and retries after any failure. */
  void appendEnd(Supplier<List<NewEvent>> end) {
    for (Backoff backoff = ENDING; ; backoff = backoff.next()) {
      try {
        append(end.get());
        return;
      } catch (LogException.Fenced ended) {
        LOG.debugf("another replica ended stream=%s", writer.stream());
        return;
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        return;
      } catch (Throwable unexpected) {
        if (backoff.isExhausted()) {
          throw unexpected;
        }
        LOG.errorf(unexpected, "stream not ended yet stream=%s", writer.stream());
        LockSupport.parkNanos(backoff.delay().toNanos());
      }
    }
  }

  /** Appends from now on however far a client is behind. */
  void stopWaiting() {
    writer.stopWaiting();
  }

  /** Finishes the {@link OutageDelivery}. */
  void finish() throws InterruptedException {
    outage.finish();
  }

  private void warn(LogException failure) {
    if (!warned) {
      String reason = Reason.of(failure);
      WAITS.warn(LOG, "append waits for the store stream=%s reason=%s", writer.stream(), reason);
    }
    warned = true;
  }

  private static Duration since(long start) {
    return Duration.ofNanos(System.nanoTime() - start);
  }
}
