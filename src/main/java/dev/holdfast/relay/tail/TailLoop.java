package dev.holdfast.relay.tail;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.RequestId;
import java.time.Duration;
import java.util.List;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The loop of a {@link Tail} that runs: reads the events after the cursor, writes them to the
 * client and, when there are none, waits for a wake-up. Replay and live following are the same
 * loop.
 *
 * <p>A tail that waits has no thread: the end of the wait starts one. While it waits at the head of
 * the log, the thread of the writer delivers the events that it has appended, see {@link
 * #deliverAtHead}.
 */
final class TailLoop {

  private static final Logger LOG = Logger.getLogger(TailLoop.class);

  /** Upper bound of one wait of a client that shall move, in case it is now known to resume. */
  private static final Duration MAX_WAIT_TO_MOVE = Duration.ofSeconds(10);

  /** Time that another writer has to log the events of a client. */
  private static final Duration MAX_WAIT_FOR_WRITER = Duration.ofSeconds(5);

  /** Waits of idle clients end at multiples of this time. */
  private static final Duration STEP = Duration.ofMillis(250);

  private final TailContext context;
  private final StreamRef stream;
  private final ClientConnection client;
  private final PageReader reader;
  private final Delivery delivery;
  private final ClientFrames frames;
  private final ClientWriter writer;
  private final Departures departures;
  private final TailSignal signal;

  /** Held by the thread that reads and writes. It owns all fields below. */
  private final AutoLock turn = new AutoLock();

  /** True while the tail waits at the head of the log. */
  private boolean waiting;

  /** Nano time since which the client has newer events than the log; 0 while it does not. */
  private long aheadSince;

  /** True once the client has waited for so long that it was sent a comment. */
  private boolean isIdle;

  /** True when the client has left before the end of the response. */
  private boolean left;

  /** Next step of a tail. */
  private enum Next {
    /** Read the next page. */
    READ,
    /** Wait again: the log wakes the tail when there is something to read. */
    PAUSE,
    /** Leave the thread, and continue on another one when the wait ends. */
    WAIT,
    END
  }

  /** The first step on a thread. */
  private interface Step {
    Next run() throws ClientGoneException, InterruptedException;
  }

  /** Creates the loop of a tail. */
  TailLoop(
      TailContext context,
      ClientConnection client,
      PageReader reader,
      Delivery delivery,
      ClientFrames frames,
      Departures departures,
      TailSignal signal) {
    this.context = context;
    this.stream = departures.stream();
    this.client = client;
    this.reader = reader;
    this.delivery = delivery;
    this.frames = frames;
    this.writer = delivery.writer();
    this.departures = departures;
    this.signal = signal;
  }

  /** Runs until the tail ends or waits. */
  void run() {
    context.listener().connectionOpened();
    signal.follow(this::deliverAtHead, requests -> delivery.await(RequestId.parse(requests)));
    client.onGone(signal::gone);
    context.tails().add(departures);
    run(() -> {
      delivery.begin(signal);
      return Next.READ;
    });
  }

  private void run(Step first) {
    Next next = Next.END;
    try (var _ = turn.hold()) {
      next = follow(first);
      if (next == Next.END) {
        waiting = false;
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
        close();
      }
    }
  }

  private Next follow(Step first) throws ClientGoneException, InterruptedException {
    try {
      Next next = first.run();
      while (next == Next.READ || next == Next.PAUSE) {
        next = next == Next.READ ? step() : pause(false);
      }
      return next;
    } catch (LogException.StoreUnavailable away) {
      // The client resumes with its cursor later. The opening frame, which may give it the cursor,
      // is sent in any case.
      LOG.debugf("tail ended, the store is away stream=%s: %s", stream, away.getMessage());
      frames.pauseOrClose(delivery.cursor(), context.config().retry());
      return Next.END;
    }
  }

  private void close() {
    try (var _ = turn.hold()) {
      waiting = false;
      delivery.endWatch();
      delivery.closed(left);
    } finally {
      client.end();
      context.tails().remove(departures);
      context.listener().connectionClosed();
    }
  }

  /** Reads one page and handles it. */
  private Next step() throws ClientGoneException, InterruptedException {
    // Before the read, which finds all events of calls that ended before the replica leaves.
    boolean leaves = departures.isStopping();
    try (PageReader.Page page = reader.next(delivery.cursor(), client, this::waitForStore)) {
      // An evicted tail ends even if it never has to wait: an event goes to one connection only.
      if (signal.isEnding()) {
        return await(Duration.ZERO);
      }
      switch (page.result()) {
        case null -> {}
        case ReadResult.Events(List<LogEvent> events) when events.isEmpty() -> {}
        case ReadResult.Events(List<LogEvent> events) -> {
          return deliver(events);
        }
        case ReadResult.Gap gap -> {
          return skip(gap);
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
    return reader.needsRoom() ? awaitBeforeRead(reader.untilRoom()) : pause(leaves);
  }

  /**
   * Goes on after missing events. If the client has newer events than the log, another writer of
   * the stream may still log them, so the tail waits for a while.
   */
  private Next skip(ReadResult.Gap gap) throws ClientGoneException {
    if (delivery.isAhead(gap)) {
      if (delivery.goOnAfterSameEvent()) {
        return Next.READ;
      }
      aheadSince = aheadSince == 0 ? System.nanoTime() : aheadSince;
      Duration left = MAX_WAIT_FOR_WRITER.minusNanos(System.nanoTime() - aheadSince);
      if (left.isPositive()) {
        return awaitBeforeRead(least(left, writer.untilNextDeadline()));
      }
    }
    aheadSince = 0;
    return delivery.skip(gap) ? Next.READ : Next.END;
  }

  /** Waits for room for a large event, or for another writer. Then the tail reads again. */
  private Next awaitBeforeRead(Duration most) throws ClientGoneException {
    if (movedAway(false)) {
      return Next.END;
    }
    delivery.flush(client);
    return await(most);
  }

  /** Keeps the connection alive while the store is away; returns whether to try again. */
  private boolean waitForStore() throws ClientGoneException {
    if (departures.shouldEnd() || writer.isOver()) {
      return false;
    }
    boolean _ = commentIfSilent();
    delivery.flush(client);
    return true;
  }

  /** Adds a comment if the client has got nothing for long. Returns whether it did. */
  private boolean commentIfSilent() {
    boolean isDue = writer.isSilent();
    if (isDue) {
      frames.comment("");
    }
    return isDue;
  }

  private Next deliver(List<LogEvent> events) throws ClientGoneException {
    aheadSince = 0;
    delivery.deliver(events, client);
    if (events.getLast().last()) {
      return Next.END;
    }
    // Checked here too, because a busy stream may never pause.
    boolean ends = movedAway(false) || !mayContinue() || frames.hasPaused(delivery.cursor());
    return ends ? Next.END : Next.READ;
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
    try {
      boolean delivers =
          waiting && !departures.shouldEnd() && delivery.deliverNow(before, events, client);
      if (delivers && departures.shouldEnd()) {
        signal.wake(); // Now the client has an id to resume from.
      }
      return delivers;
    } catch (Throwable failure) {
      // The append has succeeded, so the writer must not see this. The client resumes.
      LOG.debugf(failure, "tail failed stream=%s", stream);
      client.abort();
      return false;
    } finally {
      turn.unlock();
    }
  }

  /** There is nothing to read: sends what is buffered and waits. */
  private Next pause(boolean leaves) throws ClientGoneException {
    delivery.caughtUp();
    if (movedAway(leaves) || frames.hasPaused(delivery.cursor())) {
      return Next.END;
    }
    frames.atHead();
    delivery.flush(client);
    waiting = true;
    return await(untilNext());
  }

  /** Time until there is something to do even if no event comes. */
  private Duration untilNext() {
    Duration wait =
        least(writer.untilNextDeadline(), departures.isEmpty() ? null : MAX_WAIT_TO_MOVE);
    wait = least(least(wait, frames.untilPause()), frames.untilAtHead());
    // Waits of idle clients end in step: one timer and one wake-up of a thread serve many.
    long late = isIdle ? Math.floorMod(-(System.nanoTime() + wait.toNanos()), STEP.toNanos()) : 0;
    return wait.plusNanos(late);
  }

  private static Duration least(Duration one, @Nullable Duration other) {
    return other == null || one.compareTo(other) < 0 ? one : other;
  }

  private Next await(Duration most) throws ClientGoneException {
    TailSignal.Cause already =
        signal.await(most, this::stayIdle, cause -> run(() -> continueAfter(cause)));
    return already == null ? Next.WAIT : continueAfter(already);
  }

  /**
   * Sends a comment to a client that waits, on the thread of the timer, which spares the tail a
   * thread.
   *
   * @return how much longer to wait; null if a thread of the tail must look
   */
  private @Nullable Duration stayIdle() {
    if (!turn.tryLock()) {
      return null;
    }
    try {
      boolean stays = waiting && isIdle && departures.isEmpty() && !signal.isEnding();
      boolean isPlain = frames.untilPause() == null && frames.untilAtHead() == null;
      if (!stays || !isPlain || writer.isOver() || !writer.hasTaken(client)) {
        return null;
      }
      if (commentIfSilent()) {
        writer.writeNow(client, frames.written());
        frames.written().release();
      }
      return untilNext();
    } catch (Throwable failure) {
      LOG.debugf(failure, "no comment to the client of a tail stream=%s", stream);
      return null;
    } finally {
      turn.unlock();
    }
  }

  private Next continueAfter(TailSignal.Cause cause) throws ClientGoneException {
    boolean reads = !waiting; // It waits for room or for another writer, not for events.
    waiting = false;
    writer.settle(client);
    return switch (cause) {
      case WOKEN -> Next.READ;
      case TIMED_OUT -> {
        boolean continues = mayContinue();
        if (continues && commentIfSilent()) {
          client.idle();
          isIdle = !reads;
        }
        Next next = reads ? Next.READ : Next.PAUSE;
        yield continues ? next : Next.END;
      }
      case GONE -> {
        left = true;
        yield Next.END;
      }
      case EVICTED -> {
        Duration first = context.config().retry();
        Duration retry = context.tails().retryAfterEviction(stream, writer.age(), first);
        if (frames.pausesForNewerTail()) {
          frames.pause(delivery.cursor());
        } else {
          frames.close(retry);
        }
        yield Next.END;
      }
    };
  }

  private boolean movedAway(boolean anyway) {
    boolean moves = anyway || departures.mayMove();
    if (moves && departures.isRefused()) {
      frames.comment("the access token is no longer valid");
      frames.close(context.config().drainRetry());
    } else if (moves) {
      frames.pauseOrClose(delivery.cursor(), context.config().drainRetry());
    }
    return moves;
  }

  /** Closes a connection that is too old. */
  private boolean mayContinue() {
    if (writer.isOver()) {
      frames.pauseOrClose(delivery.cursor(), context.config().retry());
      return false;
    }
    return true;
  }
}
