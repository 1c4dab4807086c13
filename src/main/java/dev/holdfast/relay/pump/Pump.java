package dev.holdfast.relay.pump;

import dev.holdfast.log.FencedException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.MessageKind;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Writes one stream: takes messages from the upstream and appends them to the log, until the last
 * request of the stream is answered. Clients come and go without the pump noticing.
 *
 * <p>Every stream of a request ends definitely: with the upstream's response, with an error in its
 * place, or, when the client cancelled it, with nothing.
 */
public final class Pump implements Runnable {

  private static final Logger LOG = Logger.getLogger(Pump.class);
  private static final byte[] NOTHING = {};

  /** What becomes of the upstream. */
  public enum Origin {
    /** The pump asks it, unless nobody wants the answer any more. */
    TO_ASK,
    /** It was asked before: the answer must be let go in any case. */
    ASKED,
    /** Likewise, and the stream ends with it, though it answers no request. */
    HOME
  }

  private final StreamWriter writer;
  private final Appender log;
  private final Supplier<MessageSource> upstream;
  private final Origin origin;
  private final PendingRequests pending;
  private final List<RequestId> requests;
  private final Runnable hearCancellations;
  private final RelayListener listener;
  private final CompletableFuture<@Nullable Void> firstSign = new CompletableFuture<>();
  private volatile @Nullable MessageSource source;
  private volatile boolean stopped;

  /** For the upstream's first sign. */
  private final InterruptibleWait first = new InterruptibleWait();

  // Set, once, by whoever drains this replica.
  private volatile boolean left;
  private volatile boolean abandoned;

  /**
   * Prepares; {@link #run()} starts.
   *
   * @param upstream asks the upstream and returns its answer
   * @param requests the requests that the stream answers; none for a standalone stream
   * @param hearCancellations cancels what clients have cancelled so far, wherever they have
   * @param hold how long events wait for a store that is away
   */
  public Pump(
      StreamWriter writer,
      Supplier<MessageSource> upstream,
      Origin origin,
      List<RequestId> requests,
      Runnable hearCancellations,
      Duration hold,
      RelayListener listener) {
    this.writer = writer;
    this.log = new Appender(writer, hold, listener);
    this.upstream = upstream;
    this.origin = origin;
    this.requests = List.copyOf(requests);
    this.pending = new PendingRequests(requests);
    this.hearCancellations = hearCancellations;
    this.listener = listener;
  }

  @Override
  public void run() {
    try {
      copyAll();
    } catch (UpstreamException failure) {
      settle(failure);
      if (!stopped) {
        listener.upstreamFailed(failure);
        firstSign.completeExceptionally(failure);
      }
    } catch (FencedException fenced) {
      // Another replica owns the stream, or its session has ended: whatever comes is theirs to
      // tell.
      LOG.debugf("stream=%s stopped: %s", writer.stream(), fenced.getMessage());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException unforeseen) {
      LOG.errorf(unforeseen, "stream=%s failed in an unforeseen way", writer.stream());
      settle(new UpstreamException.Broken("the gateway failed", unforeseen));
    } finally {
      firstSign.complete(null);
      finish();
    }
  }

  /** Stays the owner until the store knows all that was written. */
  private void finish() {
    try {
      log.finish();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isWithdrawn() {
    return !requests.isEmpty() && pending.open().isEmpty();
  }

  private void copyAll() throws InterruptedException {
    try (MessageSource messages = ask()) {
      source = messages;
      messages.whenMoved(writer::recordUpstreamCursor);
      firstSign.complete(null);
      if (stopped) {
        stop();
      }
      while (copy(messages.take())) {}
    }
  }

  /** Asks the upstream. Whoever stops the pump meanwhile ends the wait. */
  private MessageSource ask() {
    return first.during(() -> {
      if (stopped && origin == Origin.TO_ASK) {
        throw new UpstreamException.Broken("it was stopped before it was asked for", null);
      }
      return upstream.get();
    });
  }

  /**
   * Appends what the upstream sent.
   *
   * @return whether more is to come
   */
  private boolean copy(List<UpstreamMessage> messages) throws InterruptedException {
    if (messages.isEmpty()) {
      if (!requests.isEmpty()) {
        settle(new UpstreamException.Broken("it ended without a response", null));
      }
      return false;
    }
    List<NewEvent> events = new ArrayList<>(messages.size());
    boolean last = false;
    for (int i = 0; i < messages.size() && !last; i++) {
      UpstreamMessage message = messages.get(i);
      try {
        List<Message> parsed = PendingRequests.read(message.payload());
        parsed.forEach(each -> listener.fromUpstream(MessageKind.of(each)));
        last = pending.answeredBy(parsed);
        events.add(new NewEvent(message.payload(), message.eventId(), last));
      } catch (EnvelopeException garbage) {
        refuse(garbage, events);
      }
    }
    if (!events.isEmpty()) {
      log.append(events);
    }
    return !last;
  }

  /**
   * Ends a stream that answers requests: one of the answers may have been in what cannot be read.
   * On a standalone stream nobody waits for anything, so there the garbage is left out.
   */
  private void refuse(EnvelopeException garbage, List<NewEvent> before)
      throws InterruptedException {
    UpstreamException failure =
        new UpstreamException.Broken("it sent what is no JSON-RPC message", garbage);
    if (requests.isEmpty()) {
      listener.upstreamFailed(failure);
      return;
    }
    if (!before.isEmpty()) {
      log.append(before);
    }
    throw failure;
  }

  /** Ends the stream for the requests that the upstream will not answer any more. */
  private void settle(UpstreamException failure) {
    if ((requests.isEmpty() && origin != Origin.HOME) || left) {
      return;
    }
    if (!isWithdrawn()) {
      // The upstream may have ended its answer because of a cancellation. Word of that sets out
      // before the upstream hears of it, but may still be on its way to us.
      hearCancellations.run();
    }
    List<NewEvent> end = new ArrayList<>();
    for (RequestId id : pending.open()) {
      byte[] error =
          abandoned ? LostCall.error(id, LostCall.STOPPED) : UpstreamErrors.message(id, failure);
      end.add(new NewEvent(error, null, false));
    }
    if (end.isEmpty()) {
      end.add(new NewEvent(NOTHING, null, false));
    }
    NewEvent last = end.removeLast();
    end.add(new NewEvent(last.payload(), null, true));
    try {
      log.append(end);
    } catch (FencedException alreadySettled) {
      LOG.debugf("stream=%s was settled by another", writer.stream());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits for the upstream's first sign.
   *
   * @param most after which the wait is given up; the pump goes on
   * @throws UpstreamException when the upstream failed instead; the stream is settled already
   */
  public void awaitFirstSign(Duration most) {
    try {
      firstSign.get(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof UpstreamException failure) {
        throw failure;
      }
      throw new IllegalStateException(failed.getCause());
    } catch (TimeoutException stillWaiting) {
      LOG.tracef("stream=%s has no first sign yet", writer.stream());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether this stream answers the request. */
  boolean answers(RequestId id) {
    return requests.contains(id);
  }

  /**
   * The client does not want this answer any more. When it waits for no other, lets go of the
   * upstream and ends the stream.
   */
  void cancel(RequestId id) {
    if (pending.withdraw(id)) {
      stop();
    }
  }

  /** Lets go of the upstream, whether or not it has given a sign. */
  void stop() {
    stopped = true;
    MessageSource current = source;
    if (current != null) {
      current.close();
    } else {
      first.end();
    }
  }

  /** Whether the stream answers requests, and so comes to an end by itself. */
  boolean answersRequests() {
    return !requests.isEmpty();
  }

  /** Lets go of the upstream and writes no end: another replica will go on, or settle. */
  public void leave() {
    left = true;
    stop();
  }

  /** Ends the stream with an error for what is not answered: nobody can go on. */
  public void abandon() {
    abandoned = true;
    stop();
  }
}
