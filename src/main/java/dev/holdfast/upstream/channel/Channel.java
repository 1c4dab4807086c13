package dev.holdfast.upstream.channel;

import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;

/**
 * What carries all messages of one session. It gives those of the server to its {@link
 * ChannelRouter}, and ends that when it ends itself. Thread-safe.
 */
public interface Channel {

  /** What the session is called. */
  String session();

  /** Where the messages of the server go. */
  ChannelRouter router();

  /** Told when the server has opened the session. */
  void opened();

  /** Whether messages can be sent. */
  boolean isAlive();

  /** Whether it has ended, with all that belongs to it. True before that is told. */
  boolean isGone();

  /**
   * Sends a message or a batch.
   *
   * @param json without line ends
   * @param most how long to wait until the server has it
   * @throws UpstreamException if it has not; it says whether it may
   */
  void send(byte[] json, Duration most);

  /** Sends a message as well as it can be sent, behind the caller's back. */
  void sendLater(byte[] json);

  /**
   * Ends the session. Does not wait for it.
   *
   * @param why what becomes of the requests that are open
   */
  void stop(UpstreamException why);

  /** Waits for the end of a channel that was stopped; returns whether it has come. */
  boolean awaitEnd(Duration most) throws InterruptedException;
}
