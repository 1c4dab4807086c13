package dev.holdfast.upstream.channel;

import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;

/**
 * Carries all messages of one session. A channel passes the server's messages to its {@link
 * ChannelRouter}, and ends the router when it ends. Thread-safe.
 */
public interface Channel {

  /** Returns the name of the session. */
  String session();

  /** Returns the router of the server's messages. */
  ChannelRouter router();

  /** Tells the channel that the server has opened the session. */
  void opened();

  /** Returns whether messages can be sent. */
  boolean isAlive();

  /** Returns whether the channel and all its resources are gone. True before listeners know. */
  boolean isGone();

  /**
   * Sends a message or a batch, and waits until the server has it.
   *
   * @param json without line ends
   * @throws UpstreamException if the server does not have it, or may not have it
   */
  void send(byte[] json, Duration timeout);

  /** Sends a message in the background. Failures are ignored. */
  void sendLater(byte[] json);

  /**
   * Starts to end the channel. Does not wait for the end.
   *
   * @param why failure for the readers of open requests
   */
  void stop(UpstreamException why);

  /** Waits for the end of a stopped channel. Returns false after a timeout. */
  boolean awaitEnd(Duration timeout) throws InterruptedException;
}
