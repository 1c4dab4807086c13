package dev.holdfast.relay.pump;

import dev.holdfast.budget.LogRate;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.retry.Backoff;
import dev.holdfast.timer.TimeLimit;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
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

  /** An upstream may send any number of such messages. */
  private static final LogRate IGNORED = new LogRate(Duration.ofSeconds(10));

  private static final byte[] NO_PAYLOAD = {};
  private static final Duration SEND_TIME = Duration.ofMillis(50);

  /** Clients wait for the end of a stream: memory that is short may be free again soon. */
  private static final Backoff ENDING =
      new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1), 60, 0);

  /** Where the upstream's messages come from. */
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
    /** The pump writes nothing: another replica continues the stream. */
    HANDED_OVER
  }

  private final StreamWriter writer;
  private final String upstreamName;
  private final Appender appender;
  private final Origin origin;
  private final PendingRequests pending;
  private final Set<RequestId> requests;
  private final Runnable collectCancellations;
  private final RelayListener listener;
  private final @Nullable TraceListener traces;
  private final Consumer<Pump> onEnd;

  /** Whether the pump has ended: true, or false once the upstream has begun a stream. */
  private final CompletableFuture<Boolean> answered = new CompletableFuture<>();

  private final ClosableSource source = new ClosableSource();

  /** Null once the upstream was asked: the request may be large. */
  private @Nullable UpstreamRequest upstream;

  /**
   * What the next thread does before it takes messages; returns whether more follow. A field,
   * because the thread would keep it.
   */
  private @Nullable Part next;

  /** How the stream ends when its upstream does not end it. Set by the thread that drains. */
  private volatile End end = End.ERROR;

  /** A part of the work of a pump. */
  private interface Part {
    boolean run() throws Throwable;
  }

  /**
   * Creates a pump as {@link Pumps#start} describes.
   *
   * @param onEnd gets this pump when it has ended
   */
  Pump(
      StreamWriter writer,
      String upstreamName,
      UpstreamRequest upstream,
      Origin origin,
      List<RequestId> requests,
      Runnable collectCancellations,
      Duration hold,
      RelayListener listener,
      @Nullable TraceListener traces,
      Consumer<Pump> onEnd) {
    this.writer = writer;
    this.upstreamName = upstreamName;
    this.appender = new Appender(writer, upstreamName, hold, listener, traces);
    this.upstream = upstream;
    this.origin = origin;
    this.requests = new HashSet<>(requests);
    this.pending = new PendingRequests(requests);
    this.collectCancellations = collectCancellations;
    this.listener = listener;
    this.traces = traces;
    this.onEnd = onEnd;
  }

  /** Asks the upstream, on a thread of the pump. */
  void start() {
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
        listener.upstreamFailed(upstreamName, failure);
        answered.completeExceptionally(failure);
      }
    } catch (LogException.Fenced fenced) {
      // Another replica owns the stream, or the session has ended.
      LOG.debugf("pump stopped stream=%s: %s", writer.stream(), fenced.getMessage());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (Throwable unexpected) {
      // Also an Error, such as too little memory: clients wait for the end of the stream.
      pending.reopenUnwritten();
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
      onEnd.accept(this);
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
        waits = traces == null && messages.whenArrived(() -> arrived(messages));
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
      List<NewEvent> events = withoutResponses(taken);
      if (taken.isEmpty()) {
        if (!messages.whenArrived(() -> arrived(messages))) {
          continueWith(messages, () -> copy(messages.take()));
        }
      } else if (events.isEmpty()) {
        continueWith(messages, () -> copy(taken));
      } else if (!appender.appendLater(events, inLog -> appended(messages, events, inLog))) {
        continueWith(messages, () -> append(events));
      }
    } catch (Throwable unexpected) {
      continueWith(
          messages,
          () -> {
            throw unexpected;
          });
    }
  }

  private void appended(MessageSource messages, List<NewEvent> events, boolean inLog) {
    if (inLog) {
      arrived(messages);
    } else {
      continueWith(messages, () -> append(events));
    }
  }

  private boolean append(List<NewEvent> events) throws InterruptedException {
    appender.append(events);
    return true;
  }

  /** Continues on a thread of the pump. */
  private void continueWith(MessageSource messages, Part first) {
    try {
      next = first;
      newThread(() -> run(() -> copyAll(messages)));
    } catch (Throwable failure) {
      LOG.debugf(failure, "pump continues later stream=%s", writer.stream());
      TimeLimit _ = TimeLimit.start(ENDING.delay(), () -> continueWith(messages, first));
    }
  }

  /** Converts messages to events. Empty if one of them is a response, which may be the last. */
  private List<NewEvent> withoutResponses(List<UpstreamMessage> taken) {
    List<NewEvent> events = new ArrayList<>(taken.size());
    List<Message> parsed = new ArrayList<>(taken.size());
    try {
      for (UpstreamMessage message : taken) {
        parsed.addAll(message.body().messages());
        events.add(new NewEvent(message.payload(), message.eventId(), false));
      }
    } catch (EnvelopeException invalid) {
      return List.of();
    }
    if (parsed.stream().anyMatch(Message.Response.class::isInstance)) {
      return List.of();
    }
    parsed.forEach(each -> listener.fromUpstream(RelayListener.MessageKind.of(each)));
    return events;
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
    List<NewEvent> events = new ArrayList<>(messages.size());
    boolean last = false;
    for (int i = 0; i < messages.size() && !last; i++) {
      UpstreamMessage message = messages.get(i);
      try {
        List<Message> parsed = message.body().messages();
        parsed.forEach(each -> listener.fromUpstream(RelayListener.MessageKind.of(each)));
        if (message.failure() != null) {
          listener.upstreamFailed(upstreamName, message.failure());
        }
        last = pending.answeredBy(parsed);
        events.add(new NewEvent(message.payload(), message.eventId(), last));
      } catch (EnvelopeException.FieldTooLong invalid) {
        logIgnored(invalid);
        listener.upstreamFailed(
            upstreamName, new UpstreamException.Broken("a message is too large", invalid));
      } catch (EnvelopeException invalid) {
        reject(invalid, events);
      }
    }
    if (!events.isEmpty()) {
      appender.append(events);
    }
    pending.written();
    return !last;
  }

  /** The invalid message may have been a response. Only a standalone stream skips it. */
  private void reject(EnvelopeException invalid, List<NewEvent> before)
      throws InterruptedException {
    UpstreamException failure =
        new UpstreamException.Broken("it sent what is no JSON-RPC message", invalid);
    if (!answersRequests()) {
      listener.upstreamFailed(upstreamName, failure);
      return;
    }
    if (!before.isEmpty()) {
      appender.append(before);
    }
    throw failure;
  }

  /** Appends the end of the stream: an error for each request without a response. */
  private void endStream(UpstreamException failure) {
    boolean endsWithUpstream = answersRequests() || origin == Origin.PINNED_SESSION;
    if (!endsWithUpstream || end == End.HANDED_OVER) {
      return;
    }
    for (Backoff backoff = ENDING; ; backoff = backoff.next()) {
      try {
        appendEnd(failure);
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

  private void appendEnd(UpstreamException failure) throws InterruptedException {
    if (!answersRequests() || !pending.open().isEmpty()) {
      // The upstream may have ended its answer because the client cancelled the request through
      // another replica. The cancellation was sent to this replica before the upstream got it, but
      // may not have arrived yet.
      collectCancellations.run();
    }
    List<NewEvent> events = new ArrayList<>();
    for (RequestId id : pending.open()) {
      byte[] error =
          end == End.GATEWAY_STOPPED
              ? UpstreamErrors.error(id, UpstreamErrors.GATEWAY_STOPPED)
              : UpstreamErrors.message(id, failure);
      events.add(new NewEvent(error, null, false));
    }
    byte[] lastPayload = events.isEmpty() ? NO_PAYLOAD : events.removeLast().payload();
    events.add(new NewEvent(lastPayload, null, true));
    appender.append(events);
  }

  private void logIgnored(EnvelopeException invalid) {
    IGNORED.log(
        LOG,
        Logger.Level.WARN,
        () ->
            "message ignored stream=%s reason=%s"
                .formatted(writer.stream(), invalid.clientMessage()));
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
        return answered.get();
      }
      LOG.tracef("the upstream has not answered yet stream=%s", writer.stream());
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof UpstreamException failure) {
        throw failure;
      }
      throw new IllegalStateException(failed.getCause());
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
    return requests.contains(id);
  }

  /** Whether the stream answers requests, and so ends by itself. */
  boolean answersRequests() {
    return !requests.isEmpty();
  }

  /**
   * Cancels a request. When no other request of the stream waits for a response, the pump releases
   * the upstream and ends the stream.
   */
  void cancel(RequestId id) {
    if (pending.cancel(id)) {
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
