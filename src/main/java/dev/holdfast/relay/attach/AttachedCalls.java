package dev.holdfast.relay.attach;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.log.CallIndex;
import dev.holdfast.log.CallIndex.Entry;
import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Receipt;
import dev.holdfast.relay.tail.RepeatedRequest;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TailOpener;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Joins a call that a client repeats to the first one. Every call has an entry in the {@link
 * CallIndex} before its server gets it, until its result was delivered. Thread-safe.
 *
 * @param window time since the start of a call in which a repetition joins it; zero for never
 */
public record AttachedCalls(
    CallIndex index,
    StreamIndex streams,
    Sessions sessions,
    TailOpener tails,
    Duration window,
    AttachListener listener) {

  private static final Logger LOG = Logger.getLogger(AttachedCalls.class);

  /**
   * Starts a call, unless it repeats another one.
   *
   * @param stream the stream that the call gets if it is executed
   */
  public Attachment begin(Session session, StreamRef stream, Exchange exchange) {
    if (window.isZero()) {
      return Attachment.NONE;
    }
    String call = CallDigest.of(session, exchange).orElse(null);
    if (call == null || !(exchange.body() instanceof Body.Single(Message.Request request))) {
      return Attachment.NONE;
    }
    long since = System.nanoTime();
    String number = Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, 36);
    Entry own = new Entry(stream, index.replica() + "/" + number + CallIndex.STARTING);
    Repeatable repeatable = new Repeatable(call, own, since, session, exchange, request);
    Entry found = claim(repeatable);
    return found == null ? executed(repeatable) : repeated(repeatable, found);
  }

  /**
   * A call with an entry.
   *
   * @param own its entry if it is executed
   * @param since nano time before its replica added an entry
   */
  private record Repeatable(
      String digest,
      Entry own,
      long since,
      Session session,
      Exchange exchange,
      Message.Request request) {}

  private Attachment executed(Repeatable call) {
    return new Attachment(null, new CallReceipt(call.digest, call.own), () -> confirm(call));
  }

  /** Others take a replica that was silent for lost, and repeat a call that has no stream yet. */
  private void confirm(Repeatable call) {
    Duration silent = Duration.ofNanos(System.nanoTime() - call.since);
    if (silent.multipliedBy(2).compareTo(index.deadAfter()) > 0) {
      // The entry has changed if the response has begun, or its client has left.
      Entry now = index.exchange(call.digest, call.own, call.own, Duration.ZERO);
      if (now == null || !now.stream().equals(call.own.stream())) {
        throw new UpstreamException.Busy();
      }
    }
  }

  /** Adds the entry of a call; returns the entry of another call that is there, or null. */
  private @Nullable Entry claim(Repeatable call) {
    checkConnected(call.exchange);
    return index.exchange(call.digest, null, call.own, window);
  }

  /** A client that has left may have repeated the call elsewhere, and have the result. */
  private static void checkConnected(Exchange exchange) {
    if (exchange.hasLeft().getAsBoolean()) {
      throw new RelayException.ClientLeft();
    }
  }

  /** Replaces an entry by that of a call. Returns as {@link #claim} does. */
  private @Nullable Entry replace(Repeatable call, Entry expected) {
    Entry witness = index.exchange(call.digest, expected, call.own, window);
    if (expected.equals(witness)) {
      return null;
    }
    return witness == null ? claim(call) : witness;
  }

  private Attachment repeated(Repeatable call, Entry before) {
    ReaderWait wait = new ReaderWait(index, streams::isFollowed);
    Entry found = before;
    while (found != null) {
      ReaderWait.Next next = wait.next(found);
      checkConnected(call.exchange);
      switch (next) {
        case WAIT -> found = claim(call);
        case EXECUTE -> found = replace(call, found);
        case ATTACH -> {
          Entry taken = found.readBy(call.own.reader());
          Entry witness = index.exchange(call.digest, found, taken, Duration.ZERO);
          if (found.equals(witness)) {
            Attachment attachment = attached(call, taken).orElse(null);
            if (attachment != null) {
              return attachment;
            }
            found = replace(call, taken);
          } else {
            found = witness == null ? claim(call) : witness;
          }
        }
      }
    }
    listener.repeated(AttachListener.Event.EXECUTED);
    return executed(call);
  }

  /** Follows the first call; empty if it has no result that the client can get. */
  private Optional<Attachment> attached(Repeatable call, Entry taken) {
    CallReceipt receipt = new CallReceipt(call.digest, taken);
    Optional<Tail> first =
        reopened(call.session.upstream(), taken.stream(), call.exchange.caller(), receipt);
    first.ifPresent(_ -> listener.repeated(AttachListener.Event.ATTACHED));
    // What the server asks can be answered in the session of the first call alone.
    boolean answers =
        call.exchange.conversation() instanceof Conversation.Single
            || taken.stream().key().equals(call.own.stream().key());
    RepeatedRequest request =
        new RepeatedRequest(call.request.id(), call.request.progressToken(), answers);
    return first.map(
        tail -> new Attachment(tail.repeating(request).reporting(receipt), receipt, () -> {}));
  }

  /** Reads the first call from its oldest event; empty if it has no result, or none any more. */
  private Optional<Tail> reopened(
      String upstream, StreamRef stream, Caller caller, Receipt receipt) {
    try {
      if (index.isRead(stream) || streams.find(stream).isEmpty()) {
        return Optional.empty();
      }
      var first = new Conversation.Streamable(StreamNames.session(stream));
      Session session = sessions.find(upstream, first, caller.principal());
      EventId start = new EventId(stream.name(), Position.START);
      return tails.resume(session, start, tails.readAhead(first.id(), start));
    } catch (RelayException.SessionNotFound
        | RelayException.StreamNotFound
        | RelayException.EventsPurged gone) {
      return Optional.empty();
    } catch (RuntimeException away) {
      receipt.left();
      throw away;
    }
  }

  /** Notes when a client that has resumed a stream gets its result. */
  public Tail resumed(Tail tail) {
    StreamRef stream = tail.stream();
    if (window.isZero() || !StreamNames.answersRequests(stream)) {
      return tail;
    }
    return tail.reporting(
        new Receipt() {
          @Override
          public void delivered() {
            read(stream);
          }
        });
  }

  /** Notes that a client has the result of a stream. */
  public void read(StreamRef stream) {
    if (!window.isZero() && StreamNames.answersRequests(stream)) {
      record(() -> index.markRead(stream, window));
    }
  }

  private static void record(Runnable change) {
    try {
      change.run();
    } catch (LogException away) {
      LOG.debugf("the reader of a call was not recorded: %s", away.getMessage());
    }
  }

  /** Records the end of the response to a call. */
  private final class CallReceipt implements Receipt {

    private final String call;
    private Entry entry;

    CallReceipt(String call, Entry entry) {
      this.call = call;
      this.entry = entry;
    }

    @Override
    public void begun() {
      record(() -> {
        Entry _ = index.exchange(call, entry, entry.begun(), Duration.ZERO);
        entry = entry.begun();
      });
    }

    @Override
    public void delivered() {
      record(() -> replaceBy(null));
    }

    @Override
    public void left() {
      record(() -> replaceBy(entry.readBy(CallIndex.NOBODY)));
    }

    private void replaceBy(@Nullable Entry next) {
      Entry witness = index.exchange(call, entry, next, Duration.ZERO);
      if (entry.isStarting() && entry.begun().equals(witness)) {
        // The reply to begun() was lost.
        Entry _ = index.exchange(call, witness, next, Duration.ZERO);
      }
    }
  }
}
