package dev.holdfast.relay.tail;

import dev.holdfast.clients.KnownClient;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.StreamListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.session.SessionStoreException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One reader of a stream: a cursor and a connection. It reads the events after the cursor, writes
 * them to the client and, when there are none, waits for a wake-up. Replay and live following are
 * the same loop.
 *
 * <p>A tail that waits has no thread: the end of the wait starts one. While it waits at the head of
 * the log, the thread of the writer delivers the events that it has appended, see {@link
 * #deliverAtHead}.
 */
public final class Tail implements Tails.Movable {

  private static final Logger LOG = Logger.getLogger(Tail.class);

  /** Upper bound of one wait, in case a wake-up from another replica was lost. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(10);

  private final TailContext context;
  private final StreamRef stream;
  private final TailKind kind;
  private final Runnable inUse;
  private final BooleanSupplier resumes;
  private final TailSignal signal = new TailSignal(this::deliverAtHead, this::requested);
  private final ClientWriter writer;
  private final PageReader reader;

  /** Null while traces are off. */
  private final TraceListener.@Nullable Reading reading;

  private final Set<Departure> departures = ConcurrentHashMap.newKeySet();

  /** Held by the thread that reads and writes. It owns all fields below. */
  private final AutoLock turn = new AutoLock();

  /** The client, while the tail waits at the head of the log. */
  private @Nullable ClientConnection waiting;

  /** True when the client has left before the end of the response. */
  private boolean left;

  private final Delivery delivery;

  private Supplier<KnownClient> client = () -> KnownClient.UNKNOWN;

  /** What a tail does next. */
  private enum Next {
    /** Read the next page. */
    READ,
    /** Leave the thread, and continue on another one when the wait ends. */
    WAIT,
    END
  }

  /** The first step on a thread. */
  private interface Step {
    Next run() throws ClientGoneException, InterruptedException;
  }

  /**
   * Creates a tail after a cursor.
   *
   * @param listener receives delays
   * @param inUse runs from time to time while the tail follows
   * @param resumes whether the client will resume a stream that this replica closes
   */
  public Tail(
      TailContext context,
      StreamRef stream,
      EventFraming framing,
      Position cursor,
      TailKind kind,
      StreamListener listener,
      Runnable inUse,
      BooleanSupplier resumes) {
    this.context = context;
    this.stream = stream;
    this.kind = kind;
    this.inUse = inUse;
    this.resumes = resumes;
    this.delivery =
        new Delivery(context, stream, framing, cursor, kind, listener, this::shouldEnd, resumes);
    this.writer = delivery.writer();
    this.reader = new PageReader(context.log(), stream, context.pages());
    TraceListener traces = context.traces();
    this.reading = traces == null ? null : traces.reading(stream, cursor, kind == TailKind.RESUMED);
  }

  /** Uses a page that was already read after the cursor. */
  Tail startingWith(ReadResult page) {
    reader.startWith(page);
    return this;
  }

  /**
   * Takes the event of a complete stream that has one only, in place of {@link #run}.
   *
   * @return null for another stream, and for a result whose delivery is {@link #reporting
   *     reported}: nothing tells when the socket has it
   */
  public byte @Nullable [] takeSingle() {
    ReadResult page =
        context.log().read(stream, Position.START, PageReader.FIRST_PAGE, PageReader.SMALLEST);
    if (page instanceof ReadResult.Events(List<LogEvent> events)
        && events.size() == 1
        && events.getFirst().last()
        && events.getFirst().payload().length > 0
        && delivery.reportsSingle(events.getFirst().payload())) {
      context.log().markFullyDelivered(stream, false);
      context.listener().delivered(1);
      if (reading != null) {
        reading.ended(0, events.getFirst().position());
      }
      return events.getFirst().payload();
    }
    reader.startWith(page);
    return null;
  }

  /** Gives the requests errors if the store loses the stream, so that nobody waits. */
  Tail answering(List<RequestId> requests) {
    delivery.await(requests);
    return this;
  }

  /**
   * Translates all messages for a client without a session.
   *
   * @param idPrefix the first part of the ids of events; null for a client that gets none
   */
  public Tail translated(Translation translation, @Nullable String idPrefix) {
    delivery.translate(translation, idPrefix);
    return this;
  }

  /** Gives the messages to a request that repeats the one of the stream. It cannot resume them. */
  public Tail repeating(RepeatedRequest request) {
    delivery.repeat(request);
    return withoutIds();
  }

  /** Returns true if the messages are those of an earlier request. */
  public boolean isRepeating() {
    return delivery.isRepeating();
  }

  /** Tells the outcome of the response, after its last bytes are in the socket. */
  public Tail reporting(Receipt receipt) {
    delivery.report(receipt);
    return this;
  }

  /**
   * Wraps the translation of the messages.
   *
   * @param wrapper returns a translation that uses the given one
   */
  public Tail wrapped(UnaryOperator<Translation> wrapper) {
    delivery.wrap(wrapper);
    return this;
  }

  /** Notes whose tail it is. */
  Tail of(Supplier<KnownClient> known) {
    client = known;
    return this;
  }

  /** Time after which the client gives up a request; null if that is not known. */
  public @Nullable Duration timeLimit() {
    return client.get().timeLimit();
  }

  /** Gives events no ids: the client cannot resume. */
  public Tail withoutIds() {
    delivery.withoutIds();
    return this;
  }

  private void requested(String requests) {
    delivery.await(RequestId.parse(requests));
  }

  @Override
  public StreamRef stream() {
    return stream;
  }

  /**
   * Follows the stream until it is complete, the client is gone, a newer tail takes its place, or
   * the connection is too old. Then closes the connection. Returns when the tail has ended, or when
   * it waits: it continues on virtual threads.
   */
  public void run(ClientConnection client) {
    context.listener().connectionOpened();
    client.onGone(signal::gone);
    context.tails().add(this);
    run(client, this::begin);
  }

  private void run(ClientConnection client, Step first) {
    Next next = Next.END;
    try (var _ = turn.hold()) {
      next = follow(client, first);
      if (next == Next.END) {
        waiting = null;
        delivery.end(client);
      }
    } catch (ClientGoneException gone) {
      LOG.tracef("client is gone stream=%s", stream);
      left = true;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (Throwable unexpected) {
      LOG.errorf(unexpected, "tail failed unexpectedly stream=%s", stream);
    } finally {
      if (next != Next.WAIT) {
        close(client);
      }
    }
  }

  private Next follow(ClientConnection client, Step first)
      throws ClientGoneException, InterruptedException {
    try {
      Next next = first.run();
      while (next == Next.READ) {
        next = step(client);
      }
      return next;
    } catch (LogException.StoreUnavailable away) {
      // The client resumes with its cursor later. The opening frame, which may give it the cursor,
      // is sent in any case.
      LOG.debugf("tail ended, the store is away stream=%s: %s", stream, away.getMessage());
      closeOrPause(context.config().retry());
      return Next.END;
    }
  }

  private void closeOrPause(Duration retry) {
    if (delivery.canPause()) {
      delivery.pause();
    } else {
      delivery.close(retry);
    }
  }

  private Next begin() {
    delivery.begin(signal);
    return Next.READ;
  }

  private void close(ClientConnection client) {
    try (var _ = turn.hold()) {
      waiting = null;
      delivery.endWatch();
      delivery.closed(left);
    } finally {
      client.end();
      context.tails().remove(this);
      context.listener().connectionClosed();
      if (reading != null) {
        reading.ended(delivery.replayed(), delivery.cursor());
      }
    }
  }

  /** Reads one page and handles it. */
  private Next step(ClientConnection client) throws ClientGoneException, InterruptedException {
    // Before the read, which finds all events of calls that ended before the replica leaves.
    boolean leaves = departures.contains(Departure.STOP);
    try (PageReader.Page page =
        reader.next(delivery.cursor(), client, () -> waitForStore(client))) {
      // An evicted tail ends even if it never has to wait: an event goes to one connection only.
      if (signal.isEnding()) {
        return await(client, Duration.ZERO);
      }
      switch (page.result()) {
        case null -> {}
        case ReadResult.Events(List<LogEvent> events) when events.isEmpty() -> {}
        case ReadResult.Events(List<LogEvent> events) -> {
          return deliver(events, client);
        }
        case ReadResult.Gap gap -> {
          return delivery.skip(gap) ? Next.READ : Next.END;
        }
        case ReadResult.EndOfStream _ -> {
          delivery.streamGone();
          return Next.END;
        }
        case ReadResult.NoSuchStream _ -> {
          delivery.streamLost();
          return Next.END;
        }
      }
    }
    return reader.needsRoom() ? awaitRoom(client) : pause(client, leaves);
  }

  /** The client reads a large event later, when less waits for clients that do not read. */
  private Next awaitRoom(ClientConnection client) throws ClientGoneException {
    if (movedAway(false)) {
      return Next.END;
    }
    delivery.flush(client);
    return await(client, reader.untilRoom());
  }

  /** Keeps the connection alive while the store is away; returns whether to try again. */
  private boolean waitForStore(ClientConnection client) throws ClientGoneException {
    if (shouldEnd() || writer.isOver()) {
      return false;
    }
    delivery.commentIfSilent();
    delivery.flush(client);
    return true;
  }

  private Next deliver(List<LogEvent> events, ClientConnection client) throws ClientGoneException {
    delivery.deliver(events, client);
    if (events.getLast().last()) {
      return Next.END;
    }
    // Checked here too, because a busy stream may never pause.
    return !movedAway(false) && mayContinue() && !hasPaused() ? Next.READ : Next.END;
  }

  /**
   * Delivers events on the thread that has just appended them, which spares the tail a thread. Does
   * not block: all that may happens on a thread of the tail.
   *
   * @return false if the tail must read the events
   */
  private boolean deliverAtHead(Position before, List<LogEvent> events) {
    if (!turn.tryLock()) {
      return false;
    }
    ClientConnection client = waiting;
    try {
      return client != null && !shouldEnd() && delivery.deliverNow(before, events, client);
    } catch (Throwable failure) {
      // The append has succeeded, so the writer must not see this. The client resumes.
      LOG.debugf(failure, "tail failed stream=%s", stream);
      Objects.requireNonNull(client).abort();
      return false;
    } finally {
      turn.unlock();
    }
  }

  /** There is nothing to read: sends what is buffered and waits. */
  private Next pause(ClientConnection client, boolean leaves) throws ClientGoneException {
    delivery.caughtUp();
    if (movedAway(leaves)) {
      return Next.END;
    }
    if (hasPaused()) {
      return Next.END;
    }
    delivery.atHead();
    delivery.flush(client);
    Duration wait = least(writer.untilNextDeadline(), MAX_WAIT);
    waiting = client;
    return await(client, least(least(wait, delivery.untilPause()), delivery.untilAtHead()));
  }

  private static Duration least(Duration one, @Nullable Duration other) {
    return other == null || one.compareTo(other) < 0 ? one : other;
  }

  /** Ends the response early if it must. */
  private boolean hasPaused() {
    Duration left = delivery.untilPause();
    boolean ends = left != null && !left.isPositive();
    if (ends) {
      delivery.pause();
    }
    return ends;
  }

  private Next await(ClientConnection client, Duration most) throws ClientGoneException {
    TailSignal.Cause already =
        signal.await(most, cause -> run(client, () -> continueAfter(cause, client)));
    return already == null ? Next.WAIT : continueAfter(already, client);
  }

  private Next continueAfter(TailSignal.Cause cause, ClientConnection client)
      throws ClientGoneException {
    waiting = null;
    writer.settle(client);
    return switch (cause) {
      case WOKEN -> Next.READ;
      case TIMED_OUT -> {
        boolean continues = mayContinue();
        if (continues) {
          delivery.commentIfSilent();
        }
        yield continues ? Next.READ : Next.END;
      }
      case GONE -> {
        left = true;
        yield Next.END;
      }
      case EVICTED -> {
        Duration first = context.config().retry();
        Duration retry = context.tails().retryAfterEviction(stream, writer.age(), first);
        if (delivery.pausesForNewerTail()) {
          delivery.pause();
        } else {
          delivery.close(retry);
        }
        yield Next.END;
      }
    };
  }

  @Override
  public boolean isResumed() {
    return kind == TailKind.RESUMED && delivery.hasIds();
  }

  @Override
  public void depart(Departure why) {
    departures.add(why);
    signal.wake();
  }

  private boolean movedAway(boolean anyway) {
    boolean moves = anyway || mayMove();
    if (moves && (departures.contains(Departure.EXPIRED) || isRevoked())) {
      delivery.close("the access token is no longer valid");
    } else if (moves) {
      closeOrPause(context.config().drainRetry());
    }
    return moves;
  }

  /**
   * Returns true if the client shall move and will resume elsewhere. It needs an event id for a
   * call.
   */
  private boolean mayMove() {
    if (departures.isEmpty()) {
      return false;
    }
    boolean standalone = stream.name().equals(StreamNames.STANDALONE);
    boolean goes =
        departures.contains(Departure.EXPIRED)
            || (departures.contains(Departure.MOVE)
                && (standalone || delivery.canPause() || resumes.getAsBoolean()));
    return isRevoked() || (goes && (delivery.canPause() || delivery.isResumable()));
  }

  private boolean isRevoked() {
    return departures.contains(Departure.REVOKED);
  }

  private boolean shouldEnd() {
    return mayMove() || signal.isEnding();
  }

  /** Notes that the session is in use; closes a connection that is too old. */
  private boolean mayContinue() {
    try {
      inUse.run();
    } catch (SessionStoreException away) {
      // The next read tells whether the log is away too.
      LOG.debugf("use of the session not noted stream=%s: %s", stream, away.getMessage());
    }
    if (writer.isOver()) {
      closeOrPause(context.config().retry());
      return false;
    }
    return true;
  }
}
