package dev.holdfast.relay.attach;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
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
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jboss.logging.Logger;

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
    String number = Long.toString(ThreadLocalRandom.current().nextLong() >>> 1, 36);
    Entry own = new Entry(stream, index.replica() + "/" + number + CallIndex.STARTING);
    Entry found = index.exchange(call, null, own, window);
    return found == null
        ? new Attachment(null, new CallReceipt(call, own))
        : repeated(call, own, found, session, exchange, request);
  }

  private Attachment repeated(
      String call,
      Entry own,
      Entry before,
      Session session,
      Exchange exchange,
      Message.Request request) {
    ReaderWait wait = new ReaderWait(index, this::isFollowed);
    Entry found = before;
    while (found != null) {
      if (exchange.hasLeft().getAsBoolean()) {
        // Its client may have sent the next repetition, which looks like the first call here.
        throw new RelayException.ClientLeft();
      }
      ReaderWait.Next next = wait.next(found);
      if (next == ReaderWait.Next.WAIT) {
        found = index.exchange(call, null, own, window);
        continue;
      }
      Entry taken = next == ReaderWait.Next.ATTACH ? found.readBy(own.reader()) : own;
      Entry witness =
          index.exchange(call, found, taken, taken.equals(own) ? window : Duration.ZERO);
      if (!found.equals(witness)) {
        found = witness == null ? index.exchange(call, null, own, window) : witness;
        continue;
      }
      if (next == ReaderWait.Next.ATTACH) {
        CallReceipt receipt = new CallReceipt(call, taken);
        Tail tail =
            reopened(session.upstream(), taken.stream(), exchange.caller(), receipt).orElse(null);
        if (tail != null) {
          listener.repeated(AttachListener.Event.ATTACHED);
          boolean answers = exchange.isPooled() || taken.stream().key().equals(own.stream().key());
          RepeatedRequest repeated =
              new RepeatedRequest(request.id(), request.progressToken(), answers);
          return new Attachment(tail.repeating(repeated).reporting(receipt), receipt);
        }
        witness = index.exchange(call, taken, own, window);
        if (!taken.equals(witness)) {
          found = witness == null ? index.exchange(call, null, own, window) : witness;
          continue;
        }
      }
      break;
    }
    listener.repeated(AttachListener.Event.EXECUTED);
    return new Attachment(null, new CallReceipt(call, own));
  }

  /** Returns true if a client follows an open stream, also one that has resumed it. */
  private boolean isFollowed(StreamRef stream) {
    return streams.followed(List.of(stream.key())).getFirst().stream()
        .anyMatch(connection -> connection.stream().equals(stream.name()));
  }

  /** Reads the first call from its oldest event; empty if it has no result, or none any more. */
  private Optional<Tail> reopened(
      String upstream, StreamRef stream, Caller caller, Receipt receipt) {
    try {
      if (index.isRead(stream)) {
        return Optional.empty();
      }
      SessionId id = new SessionId(stream.key().value());
      Session session = sessions.find(upstream, id, false, caller.principal());
      EventId start = new EventId(stream.name(), Position.START);
      return tails.resume(session, start, tails.readAhead(id, start));
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
          public void begun() {}

          @Override
          public void delivered() {
            read(stream);
          }

          @Override
          public void left() {}
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
      record(() -> {
        Entry _ = index.exchange(call, entry, null, Duration.ZERO);
      });
    }

    @Override
    public void left() {
      record(() -> {
        Entry _ = index.exchange(call, entry, entry.readBy(CallIndex.NOBODY), Duration.ZERO);
      });
    }
  }
}
