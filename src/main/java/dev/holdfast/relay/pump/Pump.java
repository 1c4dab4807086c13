package dev.holdfast.relay.pump;

import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.timer.TimeLimit;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The writer of one stream. It takes messages from the upstream and appends them to the log, until
 * the last request of the stream has its response. It does not depend on any client.
 *
 * <p>A pump that waits for messages has no thread: the next message starts one. If it is not the
 * last, the thread that brings it may append it instead, see {@link #arrived}.
 *
 * <p>Every stream of a request ends definitely: with the upstream's response, with an error in its
 * place, or, when the client cancelled the request, with an empty event.
 */
public final class Pump {

  private static final Logger LOG = Logger.getLogger(Pump.class);
  private static final Duration SEND_TIME = Duration.ofMillis(50);

  /** Source of the upstream's messages. */
  public enum Origin {
    /** The pump sends the request, unless it is stopped before. */
    NOT_ASKED,
    /** The request was sent before. The pump must close the answer in any case. */
    ASKED,
    /** The standalone stream of a pinned session, which ends with the session's server. */
    PINNED_SESSION
  }

  private enum End {
    ERROR,
    GATEWAY_STOPPED,
    CANCELLED_BY_OPERATOR,
    /** The pump writes nothing: another replica continues the stream. */
    HANDED_OVER
  }

  private final Context context;
  private final StreamWriter writer;
  private final Appender appender;
  private final Origin origin;
  private final UpstreamEvents events;
  private final Runnable collectCancellations;

  /** True if the pump has ended: true, or false once the upstream has begun a stream. */
  private final CompletableFuture<Boolean> answered = new CompletableFuture<>();

  private final ClosableSource source = new ClosableSource();

  /** Null once the upstream was asked: the request may be large. */
  private @Nullable UpstreamRequest upstream;

  /**
   * Work of the next thread before it takes messages; returns whether more follow. A field, because
   * the thread would keep it.
   */
  private @Nullable Part next;

  /** End of the stream if its upstream does not end it. Set by the thread that drains. */
  private volatile End end = End.ERROR;

  /** A part of the work of a pump. */
  private interface Part {
    boolean run() throws Throwable;
  }

  /**
   * Parts that all pumps of a replica share.
   *
   * @param hold how long events wait for a store that is away
   * @param traces null while traces are off
   * @param onEnd gets each pump that has ended
   */
  record Context(
      Duration hold,
      RelayListener listener,
      @Nullable TraceListener traces,
      Consumer<Pump> onEnd) {}

  /** Creates a pump as {@link Pumps#start} describes. */
  Pump(
      Context context,
      StreamWriter writer,
      String upstreamName,
      UpstreamRequest upstream,
      Origin origin,
      List<RequestId> requests,
      Runnable collectCancellations) {
    this.context = context;
    this.writer = writer;
    this.appender =
        new Appender(writer, upstreamName, context.hold(), context.listener(), context.traces());
    this.upstream = upstream;
    this.origin = origin;
    this.events = new UpstreamEvents(writer.stream(), upstreamName, requests, context.listener());
    this.collectCancellations = collectCancellations;
  }

  /** Asks the upstream, on a thread of the pump. */
  void start() {
    TraceListener traces = context.traces();
    newThread(traces == null ? this::run : traces.writing(writer.stream(), this::run));
  }

  void run() {
    run(this::open);
  }

  private void newThread(Runnable work) {
    Thread _ =
        Thread.ofVirtual()
            .name("pump " + writer.stream())
            .inheritInheritableThreadLocals(false)
            .start(work);
  }

  /**
   * Runs a part, and ends the pump.
   *
   * @param part returns whether the pump waits. Then it has not ended, and may run elsewhere by now
   */
  private void run(Part part) {
    boolean waits = false;
    try {
      waits = part.run();
    } catch (UpstreamException failure) {
      endStream(failure);
      if (!source.isClosed()) {
        context.listener().upstreamFailed(events.upstreamName(), failure);
        answered.completeExceptionally(failure);
      }
    } catch (LogException.Fenced fenced) {
      // Another replica owns the stream, or the session has ended.
      LOG.debugf("pump stopped stream=%s: %s", writer.stream(), fenced.getMessage());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (Throwable unexpected) {
      // Also an Error, such as too little memory: clients wait for the end of the stream.
      events.pending().reopenUnwritten();
      endStream(new UpstreamException.Broken("the gateway failed", unexpected));
      LOG.errorf(unexpected, "pump failed unexpectedly stream=%s", writer.stream());
    } finally {
      if (!waits) {
        end();
      }
    }
  }

  /** This replica stays the owner until the store knows where the stream stands. */
  private void end() {
    answered.complete(true);
    try {
      appender.finish();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      context.onEnd().accept(this);
    }
  }

  private boolean open() throws Throwable {
    MessageSource messages = source.open(this::ask);
    messages.onIdWithoutMessage(writer::recordUpstreamCursor);
    if (!messages.hasArrived()) {
      answered.complete(false);
    }
    return copyAll(messages);
  }

  /**
   * Copies messages until the pump must wait for more, or the stream ends.
   *
   * @return whether the pump waits
   */
  private boolean copyAll(MessageSource messages) throws Throwable {
    boolean waits = false;
    try {
      Part first = next;
      next = null;
      boolean more = first == null || first.run();
      while (more && !waits) {
        waits = context.traces() == null && messages.whenArrived(() -> arrived(messages));
        more = waits || copy(messages.take());
      }
      return waits;
    } finally {
      if (!waits) {
        messages.close();
      }
    }
  }

  /**
   * Appends messages on the thread that brings them, which spares the pump a thread. Does not
   * block: all that may happens on a thread of the pump.
   */
  private void arrived(MessageSource messages) {
    try {
      List<UpstreamMessage> taken = messages.takeArrived();
      if (!taken.isEmpty()) {
        appendOrContinue(messages, events.of(taken));
      } else if (!messages.whenArrived(() -> arrived(messages))) {
        continueWith(messages, () -> copy(messages.take()));
      }
    } catch (Throwable unexpected) {
      continueWith(
          messages,
          () -> {
            throw unexpected;
          });
    }
  }

  private void appendOrContinue(MessageSource messages, UpstreamEvents.Batch batch) {
    if (batch.mayEnd()
        || !appender.appendLater(batch.events(), inLog -> appended(inLog, messages, batch))) {
      appended(false, messages, batch);
    }
  }

  private void appended(boolean inLog, MessageSource messages, UpstreamEvents.Batch batch) {
    if (inLog) {
      arrived(messages);
    } else {
      continueWith(messages, () -> append(batch));
    }
  }

  /** Continues on a thread of the pump. */
  private void continueWith(MessageSource messages, Part first) {
    try {
      next = first;
      Part rest = () -> copyAll(messages);
      newThread(() -> run(rest));
    } catch (Throwable failure) {
      LOG.debugf(failure, "pump continues later stream=%s", writer.stream());
      TimeLimit _ = TimeLimit.start(Appender.ENDING.delay(), () -> continueWith(messages, first));
    }
  }

  private MessageSource ask() {
    UpstreamRequest request = Objects.requireNonNull(upstream);
    try {
      if (source.isClosed() && origin == Origin.NOT_ASKED) {
        throw new UpstreamException.Broken("it was stopped before it was asked", null);
      }
      return request.get();
    } finally {
      upstream = null;
      request.release();
    }
  }

  /** Appends messages of the upstream; returns whether more follow. */
  private boolean copy(List<UpstreamMessage> messages) throws InterruptedException {
    if (messages.isEmpty()) {
      if (answersRequests()) {
        endStream(new UpstreamException.Broken("it ended without a response", null));
      }
      return false;
    }
    return append(events.of(messages));
  }

  private boolean append(UpstreamEvents.Batch batch) throws InterruptedException {
    if (!batch.events().isEmpty()) {
      appender.append(batch.events());
    }
    if (batch.failure() != null) {
      throw batch.failure();
    }
    events.pending().written();
    return !batch.last();
  }

  /** Appends the end of the stream: an error for each request without a response. */
  private void endStream(UpstreamException failure) {
    if ((answersRequests() || origin == Origin.PINNED_SESSION) && end != End.HANDED_OVER) {
      appender.appendEnd(() -> endEvents(failure));
    }
  }

  private List<NewEvent> endEvents(UpstreamException failure) {
    if (!answersRequests() || !events.pending().open().isEmpty()) {
      // The upstream may have ended its answer because the client cancelled the request through
      // another replica. The cancellation was sent to this replica before the upstream got it, but
      // may not have arrived yet.
      collectCancellations.run();
    }
    List<RequestId> open = events.pending().open();
    List<NewEvent> ends = new ArrayList<>();
    for (RequestId id : open) {
      byte[] error =
          switch (end) {
            case GATEWAY_STOPPED -> UpstreamErrors.error(id, UpstreamErrors.GATEWAY_STOPPED);
            case CANCELLED_BY_OPERATOR -> UpstreamErrors.cancelled(id);
            case ERROR, HANDED_OVER -> UpstreamErrors.message(id, failure);
          };
      ends.add(new NewEvent(error, null, ends.size() == open.size() - 1));
    }
    return ends.isEmpty() ? List.of(new NewEvent(new byte[0], null, true)) : ends;
  }

  /**
   * Waits until the upstream begins a stream or fails, or until its short answer is in the log. The
   * pump continues after the wait.
   *
   * @return whether the pump has ended, so that the log has the whole answer
   * @throws UpstreamException when the upstream failed; the stream has ended with an error then
   */
  public boolean awaitUpstream(Duration most) {
    try {
      if (TimeLimit.await(answered, most)) {
        if (answered.isCompletedExceptionally()
            && answered.exceptionNow() instanceof UpstreamException failure) {
          throw failure;
        }
        return answered.resultNow();
      }
      LOG.tracef("the upstream has not answered yet stream=%s", writer.stream());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /**
   * Waits as {@link #awaitUpstream} does, but only as long as a server needs to read the request.
   * So the next message on the same pipe does not overtake it. A failure is on the stream.
   */
  public void awaitSent() {
    try {
      boolean _ = awaitUpstream(SEND_TIME);
    } catch (UpstreamException onStream) {
      LOG.tracef("the upstream failed at once stream=%s", writer.stream());
    }
  }

  StreamRef stream() {
    return writer.stream();
  }

  boolean answers(RequestId id) {
    return events.requests().contains(id);
  }

  /** Returns true if the stream answers requests, and so ends by itself. */
  boolean answersRequests() {
    return !events.requests().isEmpty();
  }

  /**
   * Cancels a request. When no other request of the stream waits for a response, the pump releases
   * the upstream and ends the stream.
   *
   * @param byOperator whether all requests of the stream get an error at once
   */
  void cancel(RequestId id, boolean byOperator) {
    end = byOperator ? End.CANCELLED_BY_OPERATOR : end;
    if (byOperator || events.pending().cancel(id)) {
      stop();
    }
  }

  /** Releases the upstream, even if it has not answered yet. */
  void stop() {
    source.close();
    appender.stopWaiting();
  }

  /** Releases the upstream and leaves the stream open for another replica. */
  public void handOver() {
    end = End.HANDED_OVER;
    stop();
  }

  /** Releases the upstream and ends the stream with an error: no other replica can continue. */
  public void endUnfinished() {
    end = End.GATEWAY_STOPPED;
    stop();
  }
}
