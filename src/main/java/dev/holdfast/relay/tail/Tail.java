package dev.holdfast.relay.tail;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.Watch;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.sse.SseWriter;
import java.time.Duration;
import java.util.List;
import org.jboss.logging.Logger;

/**
 * One reader of a stream: a cursor and a connection. Reads everything after the cursor, writes it
 * out and, when there is nothing, waits to be woken. Replay and live following are the same loop.
 *
 * <p>Runs on one thread, which owns every field that is neither final nor volatile.
 */
public final class Tail {

  private static final Logger LOG = Logger.getLogger(Tail.class);

  private static final int LITTLE = 16 * 1024;

  /** How long a wait may last, lest a wake-up was lost on its way from another replica. */
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(10);

  private final TailContext context;
  private final StreamRef stream;
  private final EventFraming framing;
  private final Kind kind;
  private final Runnable alive;
  private final TailSignal signal = new TailSignal();
  private final SseWriter frames = new SseWriter();
  private final ConnectionClock lifetime;
  private final PageReader reader;

  /** Set by any thread. */
  private volatile boolean moving;

  private Position cursor;
  private int replayed;
  private boolean behind = true;
  private boolean complete;

  /** Whether the newest event is not in the log, so that the client cannot resume after it. */
  private boolean pastLog;

  /** How a tail came to be. */
  public enum Kind {
    /** By a request: follows the stream from its start. */
    REQUEST,
    /** By {@code Last-Event-ID}: the client has a cursor of its own. */
    RESUMED,
    /** By a plain GET: the client has no cursor and takes what was not delivered yet. */
    STANDALONE,
    /** By a GET whose cursor cannot be read: the client takes all there is. */
    FROM_START
  }

  /**
   * Prepares; {@link #run} starts.
   *
   * @param cursor the last event that the client has
   * @param alive called from time to time while the client listens
   */
  public Tail(
      TailContext context,
      StreamRef stream,
      EventFraming framing,
      Position cursor,
      Kind kind,
      Runnable alive) {
    this.context = context;
    this.stream = stream;
    this.framing = framing;
    this.cursor = cursor;
    this.kind = kind;
    this.alive = alive;
    this.lifetime = new ConnectionClock(context.config());
    this.reader = new PageReader(context.log(), stream);
  }

  /** Begins with what was read already after the cursor. */
  Tail beginningWith(ReadResult first) {
    reader.beginWith(first);
    return this;
  }

  /** The stream that is read. */
  public StreamRef stream() {
    return stream;
  }

  /**
   * Follows the stream until it is complete, the client is gone, a newer tail takes its place, or
   * the connection has lived long enough. Ends the connection.
   */
  public void run(ClientConnection connection) {
    context.listener().connectionOpened();
    connection.onGone(signal::gone);
    context.running().add(this);
    StreamConfig config = context.config();
    ClientWriter outlet =
        new ClientWriter(connection, this::isUnwanted, lifetime, config.writeTimeout());
    try {
      framing.opening(frames, cursor, config.retry());
      follow(outlet);
      outlet.end(frames);
      if (complete) {
        context.log().markFullyDelivered(stream);
      }
    } catch (ClientGoneException gone) {
      LOG.tracef("stream=%s the client is gone", stream);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException unforeseen) {
      LOG.errorf(unforeseen, "stream=%s connection closed in an unforeseen way", stream);
    } finally {
      connection.end();
      context.running().remove(this);
      context.listener().connectionClosed();
    }
  }

  private void follow(ClientWriter outlet) throws ClientGoneException, InterruptedException {
    try (Watch _ = context.log().watch(stream, signal)) {
      if (kind == Kind.STANDALONE) {
        // The tail that was just evicted may have delivered more since this one was asked for.
        cursor = later(cursor, context.log().deliveredUpTo(stream));
      }
      while (step(outlet)) {}
    } catch (StoreUnavailableException away) {
      // What the client misses is in the log. It comes back for it with its cursor, which it may
      // have yet to get from the opening frame: so that is sent all the same.
      LOG.debugf("stream=%s connection closed, the store is away: %s", stream, away.getMessage());
      framing.closing(frames, context.config().retry());
    }
  }

  private static Position later(Position a, Position b) {
    return a.compareTo(b) < 0 ? b : a;
  }

  /** Reads once and acts on it; returns whether to go on. */
  private boolean step(ClientWriter outlet) throws ClientGoneException, InterruptedException {
    long room = context.pages().takeShare(PageReader.SMALLEST, PageReader.LARGEST);
    try {
      ReadResult next = reader.read(cursor, room, () -> bearWithTheStore(outlet));
      // An evicted tail stops even when it never has to wait: an event goes to one connection only.
      if (signal.ended()) {
        return await(Duration.ZERO);
      }
      switch (next) {
        case ReadResult.Events(List<LogEvent> events) when events.isEmpty() -> {}
        case ReadResult.Events(List<LogEvent> events) -> {
          return deliver(events, outlet);
        }
        case ReadResult.Gap gap -> {
          return passOver(gap);
        }
        case ReadResult.EndOfStream _, ReadResult.NoSuchStream _ -> {
          return false;
        }
      }
    } finally {
      context.pages().giveBack(room);
    }
    return pause(outlet);
  }

  /** The store is away for a moment: the client need not notice. */
  private boolean bearWithTheStore(ClientWriter outlet) throws ClientGoneException {
    if (isUnwanted() || lifetime.isOver()) {
      return false;
    }
    if (lifetime.isSilent()) {
      frames.comment("");
    }
    outlet.flush(frames);
    return true;
  }

  private boolean deliver(List<LogEvent> events, ClientWriter outlet) throws ClientGoneException {
    for (LogEvent event : events) {
      framing.event(frames, event);
    }
    LogEvent newest = events.getLast();
    int count = events.size();
    reader.sized(count, frames.length());
    // What ends the stream goes out with the end of the response, if it is not much.
    if (!newest.last() || frames.length() > LITTLE) {
      outlet.flush(frames);
    }
    cursor = newest.position();
    pastLog = !newest.logged();
    replayed += behind ? count : 0;
    lifetime.delivered();
    context.listener().delivered(count);
    if (stream.name().equals(StreamNames.STANDALONE)) {
      context.log().markDelivered(stream, cursor);
    }
    if (newest.last()) {
      caughtUp();
      complete = true;
    }
    // Also here, since a busy stream may never leave the time for a pause.
    return !newest.last() && !sentElsewhere() && mayLiveOn();
  }

  /** Nothing to read: sends what is buffered and waits. */
  private boolean pause(ClientWriter outlet) throws ClientGoneException, InterruptedException {
    caughtUp();
    if (sentElsewhere()) {
      return false;
    }
    outlet.flush(frames);
    Duration wait = lifetime.untilNextDuty();
    return await(wait.compareTo(LOOK_AGAIN) < 0 ? wait : LOOK_AGAIN);
  }

  private boolean await(Duration most) throws InterruptedException {
    return switch (signal.await(most)) {
      case WOKEN -> true;
      case TIMED_OUT -> keepAlive();
      case GONE -> false;
      case EVICTED -> {
        framing.closing(frames, context.evictions().retryAfter(stream, lifetime.age()));
        yield false;
      }
    };
  }

  /** Asks that the client be sent to another replica, as soon as it can go on there. */
  void move() {
    moving = true;
    signal.wake();
  }

  private boolean sentElsewhere() {
    if (mustLeave()) {
      framing.closing(frames, context.config().drainRetry());
      return true;
    }
    return false;
  }

  /**
   * A client that was given no event id yet would lose its call with the connection: it stays. So
   * does one whose newest event had none, until it gets one: elsewhere it would find a gap.
   */
  private boolean mustLeave() {
    return moving
        && !pastLog
        && (kind != Kind.REQUEST
            || (framing.ids() && (framing.hints() || !cursor.equals(Position.START))));
  }

  private boolean isUnwanted() {
    return mustLeave() || signal.ended();
  }

  private boolean keepAlive() {
    if (!mayLiveOn()) {
      return false;
    }
    if (lifetime.isSilent()) {
      frames.comment("");
    }
    return true;
  }

  /** Says that the client still listens, and closes a connection that has lived long enough. */
  private boolean mayLiveOn() {
    try {
      alive.run();
    } catch (SessionStoreException away) {
      // Whether the log is away too, the next read tells.
      LOG.debugf("stream=%s use of the session is not noted: %s", stream, away.getMessage());
    }
    if (lifetime.isOver()) {
      framing.closing(frames, context.config().retry());
      return false;
    }
    return true;
  }

  /** Events that the client has not seen are gone. */
  private boolean passOver(ReadResult.Gap gap) {
    context.listener().gap();
    if (context.onGap() == ReplayConfig.OnGap.ERROR && hasOwnCursor()) {
      // It comes back with its cursor and is then refused with 410: a status cannot be sent here.
      framing.closing(frames, context.config().retry());
      return false;
    }
    Position before = gap.resumeAfter().or(() -> context.log().beforeOldest(stream)).orElse(cursor);
    framing.gap(frames, cursor, before);
    if (before.equals(cursor)) {
      return false;
    }
    cursor = before;
    return true;
  }

  private boolean hasOwnCursor() {
    return switch (kind) {
      case REQUEST, RESUMED -> true;
      case STANDALONE, FROM_START -> false;
    };
  }

  private void caughtUp() {
    if (behind && kind == Kind.RESUMED) {
      context.listener().replayed(replayed, lifetime.age());
    }
    behind = false;
  }
}
