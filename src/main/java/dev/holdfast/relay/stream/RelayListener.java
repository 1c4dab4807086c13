package dev.holdfast.relay.stream;

import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;

/** Is told what the relay does, to count it. Called on the threads that do it; returns at once. */
public interface RelayListener {

  /** A session began. */
  void sessionOpened();

  /**
   * A session ended or expired.
   *
   * @param lived since it began
   */
  void sessionEnded(Duration lived);

  /** A client sent a message. */
  void fromClient(MessageKind kind);

  /** An upstream sent a message. */
  void fromUpstream(MessageKind kind);

  /** A client began to follow a stream. */
  void connectionOpened();

  /** A client no longer follows a stream, for whatever reason. */
  void connectionClosed();

  /**
   * The log took events.
   *
   * @param events how many, in one append
   * @param took from the call to the answer of the log
   */
  void appended(int events, Duration took);

  /**
   * The store was away for too long: events went to their stream's client, but not into the log.
   *
   * @param events how many
   */
  void passed(int events);

  /** Events were written to a client's socket. */
  void delivered(int events);

  /**
   * A client that came back has caught up with its stream.
   *
   * @param events how many it had missed
   * @param took from its request until the socket had taken them
   */
  void replayed(int events, Duration took);

  /** A client came back for events that are gone. */
  void gap();

  /**
   * A stream of a lost replica is written here from now on.
   *
   * @param resumed whether the upstream goes on with it; otherwise it ends with an error
   */
  void takenOver(boolean resumed);

  /** An upstream failed a request or broke a stream. */
  void upstreamFailed(UpstreamException failure);
}
