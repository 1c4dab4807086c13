package dev.holdfast.upstream.channel;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.upstream.OversizedMessage;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Carries all messages of one session. A channel passes the server's messages to its {@link
 * ChannelRouter}, and ends the router when it ends. Thread-safe.
 */
public abstract class Channel {

  private final String upstream;
  private final String session;
  private final ChannelRouter router;
  private final Consumer<Channel> whenGone;
  private final CountDownLatch gone = new CountDownLatch(1);
  private volatile boolean isGone;

  /**
   * A channel without messages. {@code upstream} marks log lines. {@code whenGone} is called once
   * when the channel and all its resources are gone.
   */
  protected Channel(
      String upstream, String session, Consumer<Channel> whenGone, ByteBudget budget) {
    this.upstream = upstream;
    this.session = session;
    this.whenGone = whenGone;
    this.router = new ChannelRouter(upstream, budget);
  }

  /** Returns the name of the session. */
  public final String session() {
    return session;
  }

  /** Returns the router of the server's messages. */
  public final ChannelRouter router() {
    return router;
  }

  /**
   * Fails the request that a skipped message answers, or all open requests if it is unknown which.
   * Drops any other message.
   */
  protected final void skipped(OversizedMessage message) {
    if (message.mayBeResponse()) {
      router.fail(message.scan().id(), message.failure());
      return;
    }
    message.drop(upstream, this::sendLater);
  }

  /** Tells the channel that the server has opened the session. */
  public abstract void opened();

  /** Tells the channel whose message comes next. */
  protected void usedBy(UpstreamLink link) {}

  /** Returns whether messages can be sent. */
  public abstract boolean isAlive();

  /** Returns whether the channel and all its resources are gone. True before listeners know. */
  final boolean isGone() {
    return isGone;
  }

  /** Tells listeners that the channel and all its resources are gone. */
  protected final void reportGone() {
    isGone = true;
    whenGone.accept(this);
    gone.countDown();
  }

  /**
   * Sends a message or a batch without line ends, and waits until the server has it. Throws if the
   * server does not have it, or may not have it.
   */
  public abstract void send(byte[] json, Duration timeout);

  /**
   * Sends a message with requests. May return before the server has it; the responses may come
   * first. Throws as {@link #send} does, or passes on the failure.
   *
   * @param sent gets null when the server has the message, or else the failure
   */
  public void request(byte[] json, Duration timeout, Consumer<@Nullable UpstreamException> sent) {
    send(json, timeout);
    sent.accept(null);
  }

  /** Sends a message in the background. Failures are ignored. */
  public abstract void sendLater(byte[] json);

  /**
   * Starts to end the channel. Does not wait for the end. The readers of open requests get the
   * failure.
   */
  public abstract void stop(UpstreamException why);

  /** Waits for the end of a stopped channel. Returns false after a timeout. */
  final boolean awaitEnd(Duration timeout) throws InterruptedException {
    return gone.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * Limits of the sessions with one server.
   *
   * @param name name of the upstream, for log messages
   * @param maxSessions maximum number of channels, including those that are ending
   * @param maxSessionsPerOpener the same for each opener of sessions
   * @param firstByteTimeout bound for the wait until the server starts to answer a request. Tool
   *     calls have no such bound
   * @param idleTimeout maximum silence of a running call; zero for no bound
   * @param maxMessageBytes maximum size of a message
   * @param respawn whether a session gets a new channel when its channel was lost
   */
  public record Settings(
      String name,
      int maxSessions,
      int maxSessionsPerOpener,
      Duration firstByteTimeout,
      Duration idleTimeout,
      int maxMessageBytes,
      boolean respawn) {

    private static final Duration LONGEST_START = Duration.ofMinutes(5);

    /**
     * The bound for what a server does at once, such as to open a session: the time until it starts
     * to answer a request, or a shorter one.
     */
    public Duration startTimeout() {
      return firstByteTimeout.compareTo(LONGEST_START) < 0 ? firstByteTimeout : LONGEST_START;
    }
  }
}
