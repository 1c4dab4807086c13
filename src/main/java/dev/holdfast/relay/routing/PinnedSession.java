package dev.holdfast.relay.routing;

import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.retry.Backoff;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A session that lives in this replica, for as long as it does. It is the source of the session's
 * standalone stream: so it ends with the pump of that, whatever ends the pump, and who owns the
 * stream is on record as the home of the session.
 *
 * <p>Brings what comes through the inbox to the server, one after the other. One thread reads; the
 * other methods are for any.
 */
public final class PinnedSession implements MessageSource {

  private static final Logger LOG = Logger.getLogger(PinnedSession.class);

  /** How often a server is opened anew that is lost again soon. */
  private static final int ATTEMPTS = 5;

  private static final long SOON = Duration.ofMinutes(1).toNanos();

  /** How long what is sent waits for what was sent before, or for a server that starts. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Server server;
  private final RelayListener listener;
  private final Consumer<PinnedSession> whenClosed;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final OrderedTasks lane = new OrderedTasks();

  /** Done when the server can be spoken to, or never will be. Set by the reading thread. */
  private volatile CompletableFuture<Boolean> up;

  /** Set by the reading thread, read by one that closes. */
  private volatile @Nullable MessageSource current;

  // The reading thread's own.
  private boolean lost;
  private int attempts;
  private long opened = System.nanoTime();
  private Backoff backoff;
  private final Backoff first;

  /** The server's side of the session. */
  public interface Server {

    /** Speaks to it, wherever it is by now. */
    UpstreamSession attach();

    /** Whether it can be opened anew when it is lost. */
    boolean reopens();

    /**
     * Opens it anew.
     *
     * @throws UpstreamException when it does not open
     */
    void reopen();
  }

  /**
   * Begins nothing yet.
   *
   * @param lost whether the server was lost with another replica
   * @param first how long to wait after the first failure to open it anew
   * @param whenClosed told when this is no home any more
   */
  public PinnedSession(
      Server server,
      boolean lost,
      Backoff first,
      RelayListener listener,
      Consumer<PinnedSession> whenClosed) {
    this.server = server;
    this.lost = lost;
    this.first = first;
    this.backoff = first;
    this.listener = listener;
    this.whenClosed = whenClosed;
    this.up = lost ? new CompletableFuture<>() : CompletableFuture.completedFuture(true);
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      return next();
    } finally {
      if (isClosed()) {
        up.complete(true);
      }
    }
  }

  private List<UpstreamMessage> next() {
    while (!isClosed()) {
      try {
        if (lost) {
          reopen();
        }
        MessageSource source = current == null ? listen() : current;
        List<UpstreamMessage> messages = source.take();
        if (!messages.isEmpty() || isClosed()) {
          return messages;
        }
        throw new UpstreamException.SessionGone();
      } catch (UpstreamException failure) {
        current = null;
        if (isClosed()) {
          return List.of();
        }
        if (!mayReopen(failure)) {
          up.complete(true);
          throw failure;
        }
        listener.upstreamFailed(failure);
      }
    }
    return List.of();
  }

  private MessageSource listen() {
    MessageSource source =
        server.attach().listen(null).orElseThrow(UpstreamException.SessionGone::new);
    current = source;
    if (isClosed()) {
      source.close();
    }
    return source;
  }

  private void reopen() {
    if (!server.reopens()) {
      throw new UpstreamException.SessionGone();
    }
    server.reopen();
    opened = System.nanoTime();
    lost = false;
    up.complete(true);
    if (isClosed()) {
      // Whoever closed this meanwhile has ended what was there before.
      server.attach().end();
    }
  }

  /** Whether to try once more, after a wait. */
  private boolean mayReopen(UpstreamException failure) {
    if (!server.reopens() || (lost && failure instanceof UpstreamException.SessionGone)) {
      return false;
    }
    if (!lost) {
      lost = true;
      up = new CompletableFuture<>();
      if (System.nanoTime() - opened > SOON) {
        attempts = 0;
        backoff = first;
      }
    }
    attempts++;
    if (attempts > ATTEMPTS) {
      LOG.warn("a session is given up: its server is lost again and again");
      return false;
    }
    if (attempts > 1) {
      pause();
    }
    return true;
  }

  private void pause() {
    try {
      boolean _ = closed.await(backoff.delay().toNanos(), TimeUnit.NANOSECONDS);
      backoff = backoff.next();
    } catch (InterruptedException stopped) {
      close();
      Thread.currentThread().interrupt();
    }
  }

  /** Whether the server can be opened anew, so that the session outlives it. */
  boolean reopens() {
    return server.reopens();
  }

  /** Speaks to the server. */
  UpstreamSession upstream() {
    return server.attach();
  }

  /**
   * Does something once all is done that was put here before, and the server can be spoken to.
   *
   * @param bytes the size of what waits for that
   * @return whether there is room for it
   */
  boolean later(int bytes, Runnable task) {
    return lane.add(
        bytes,
        () -> {
          up.join();
          task.run();
        });
  }

  /**
   * Waits until the server has all that was put here before, and can be spoken to.
   *
   * @throws UpstreamException.TimedOut when that takes too long
   */
  void settle() {
    try {
      CompletableFuture.allOf(lane.all(), up).get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException busy) {
      throw new UpstreamException.TimedOut("it did not take what was sent before");
    } catch (ExecutionException unforeseen) {
      throw new IllegalStateException(unforeseen.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the waiting thread was interrupted", stopped);
    }
  }

  private boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** {@inheritDoc} Ends the server's side of the session. */
  @Override
  public void close() {
    closed.countDown();
    whenClosed.accept(this);
    up.complete(true);
    MessageSource open = current;
    if (open != null) {
      open.close();
    }
    server.attach().end();
  }
}
