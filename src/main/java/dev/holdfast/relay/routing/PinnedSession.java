package dev.holdfast.relay.routing;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.relay.pump.ClosableSource;
import dev.holdfast.relay.session.PinnedServer;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.retry.Backoff;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A session that is pinned to this replica. It is the source of the session's standalone stream: it
 * ends when the pump of that stream ends, and the owner of that stream is the replica to which the
 * session is pinned.
 *
 * <p>It reopens a server that was lost, and passes inbox messages to the server in their order. One
 * thread calls {@link #take()}; the other methods are thread-safe.
 */
final class PinnedSession implements MessageSource {

  private static final Logger LOG = Logger.getLogger(PinnedSession.class);

  /** Losses of the server, each soon after the one before, after which the session ends. */
  private static final int MAX_REOPENINGS = 5;

  private static final long SOON = Duration.ofMinutes(1).toNanos();

  /** Time for which a request waits for earlier messages, or for a server that starts. */
  private static final Duration SETTLE_TIMEOUT = Duration.ofSeconds(30);

  private final PinnedServer server;
  private final RelayListener listener;
  private final Consumer<PinnedSession> whenClosed;
  private final ClosableSource current = new ClosableSource();
  private final OrderedTasks inboxMessages = new OrderedTasks();

  /** Completes when the server is reachable, or never will be. Set by the reading thread. */
  private volatile CompletableFuture<Boolean> reachable;

  // Owned by the reading thread.
  private boolean lost;
  private @Nullable String lastId;
  private int losses;
  private long opened = System.nanoTime();
  private Backoff backoff = Backoff.UPSTREAM;

  /** Creates the session; a server that was lost with another replica must be reopened. */
  PinnedSession(
      PinnedServer server,
      boolean lost,
      @Nullable String after,
      RelayListener listener,
      Consumer<PinnedSession> whenClosed) {
    this.server = server;
    this.lost = lost;
    this.lastId = after;
    this.listener = listener;
    this.whenClosed = whenClosed;
    this.reachable = lost ? new CompletableFuture<>() : CompletableFuture.completedFuture(true);
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      return next();
    } finally {
      if (current.isClosed()) {
        reachable.complete(true);
      }
    }
  }

  private List<UpstreamMessage> next() {
    while (!current.isClosed()) {
      try {
        if (lost) {
          reopen();
        }
        MessageSource open = current.current();
        MessageSource source = open == null ? listen() : open;
        List<UpstreamMessage> messages = source.take();
        messages.forEach(
            message -> lastId = message.eventId() == null ? lastId : message.eventId());
        if (!messages.isEmpty() || current.isClosed()) {
          return messages;
        }
        throw new UpstreamException.SessionGone();
      } catch (UpstreamException failure) {
        current.forget();
        if (current.isClosed()) {
          return List.of();
        }
        if (!mayReopen(failure)) {
          reachable.complete(true);
          throw failure;
        }
        listener.upstreamFailed(upstreamName(), failure);
      }
    }
    return List.of();
  }

  private MessageSource listen() {
    return current.open(
        () -> server.attach().listen(lastId).orElseThrow(UpstreamException.SessionGone::new));
  }

  private void reopen() {
    if (!server.canReopen()) {
      throw new UpstreamException.SessionGone();
    }
    server.reopen();
    opened = System.nanoTime();
    lost = false;
    reachable.complete(true);
    if (current.isClosed()) {
      // close() ran during the reopening and ended only the server before this one.
      server.attach().leave();
    }
  }

  /** Counts a loss, and waits if it is not the first; returns whether to reopen the server. */
  private boolean mayReopen(UpstreamException failure) {
    if (!server.canReopen() || (lost && failure instanceof UpstreamException.SessionGone)) {
      return false;
    }
    if (!lost) {
      lost = true;
      reachable = new CompletableFuture<>();
      if (System.nanoTime() - opened > SOON) {
        losses = 0;
        backoff = Backoff.UPSTREAM;
      }
    }
    losses++;
    if (losses > MAX_REOPENINGS) {
      LOG.warnf(
          "session ends, its server was lost too often session=%s losses=%d",
          server.session().id(), losses);
      return false;
    }
    if (losses > 1) {
      current.pause(backoff.delay());
      backoff = backoff.next();
    }
    return true;
  }

  /** Returns true if a lost server can be reopened, so that the session outlives it. */
  boolean canReopen() {
    return server.canReopen();
  }

  /** The configured name of the upstream. */
  String upstreamName() {
    return server.session().upstream();
  }

  /** The server, for requests of the client with these scopes. */
  UpstreamSession upstream(Set<String> scopes) {
    return server.attach(scopes);
  }

  /** Adds a task as {@link OrderedTasks#add} does. It runs when the server is reachable. */
  boolean runInOrder(int bytes, Consumer<Runnable> task) {
    return inboxMessages.add(
        bytes,
        release -> {
          reachable.join();
          task.accept(release);
        });
  }

  /** Waits until all earlier tasks have run and the server is reachable. */
  void settle() {
    try {
      CompletableFuture.allOf(inboxMessages.done(), reachable)
          .get(SETTLE_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException busy) {
      throw new UpstreamException.TimedOut("it did not take what was sent before");
    } catch (ExecutionException unexpected) {
      throw new IllegalStateException(unexpected.getCause());
    } catch (InterruptedException stop) {
      throw UpstreamException.Broken.interrupted(stop);
    }
  }

  /** {@inheritDoc} Ends what this replica has of the server's side. */
  @Override
  public void close() {
    whenClosed.accept(this);
    current.close();
    reachable.complete(true);
    server.attach().leave();
  }

  /** A bounded queue of tasks that run one after the other. Thread-safe. */
  static final class OrderedTasks {

    private static final Executor VIRTUAL = Thread.ofVirtual().name("pinned-session")::start;

    /** As many tasks as an inbox holds messages, so that messages do not pile up here instead. */
    static final int MAX_TASKS = 256;

    /** Bytes that may wait before no more tasks are accepted. An inbox holds as many. */
    static final int MAX_BYTES = 16 << 20;

    private final AutoLock lock = new AutoLock();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicLong bytesWaiting = new AtomicLong();

    /** Written under the lock. */
    private volatile CompletableFuture<Boolean> last = CompletableFuture.completedFuture(true);

    /**
     * Runs a task after all earlier ones.
     *
     * @param bytes the memory that the task holds until it gives that back, which may be later than
     *     its end. Its failure gives it back, too. Zero for little, such as a cancellation, which
     *     always has room
     * @return false when full
     */
    boolean add(int bytes, Consumer<Runnable> task) {
      try (var _ = lock.hold()) {
        if (waiting.get() >= MAX_TASKS || (bytes > 0 && bytesWaiting.get() >= MAX_BYTES)) {
          return false;
        }
        waiting.incrementAndGet();
        bytesWaiting.addAndGet(bytes);
        last = last.thenApplyAsync(_ -> run(bytes, task), VIRTUAL);
        return true;
      }
    }

    private boolean run(int bytes, Consumer<Runnable> task) {
      AtomicInteger held = new AtomicInteger(bytes);
      Runnable release = () -> bytesWaiting.addAndGet(-held.getAndSet(0));
      try {
        task.accept(release);
      } catch (Throwable unexpected) {
        // The tasks behind it must still run.
        LOG.error("task failed unexpectedly", unexpected);
        release.run();
      } finally {
        waiting.decrementAndGet();
      }
      return true;
    }

    /** Completes when all tasks that were added so far have run. */
    CompletableFuture<Boolean> done() {
      return last;
    }
  }
}
