package dev.holdfast.relay.stream;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;

/**
 * Receives what happens in the relay, for metrics. Methods run on the thread that did it and return
 * at once.
 */
public interface RelayListener {

  /** The kinds of JSON-RPC messages that metrics tell apart. */
  enum MessageKind {
    /** Expects a response. */
    REQUEST,
    /** Expects no response. */
    NOTIFICATION,
    /** A result or an error. */
    RESPONSE;

    /** The kind of a message. */
    public static MessageKind of(Message message) {
      return switch (message) {
        case Message.Request _ -> REQUEST;
        case Message.Notification _ -> NOTIFICATION;
        case Message.Response _ -> RESPONSE;
      };
    }
  }

  /** A session began. */
  void sessionOpened();

  /**
   * A session ended or expired.
   *
   * @param lived the time since it began
   */
  void sessionEnded(Duration lived);

  /** A client sent a message. */
  void fromClient(MessageKind kind);

  /** A client sent a body with messages. */
  default void fromClient(Body body) {
    body.messages().forEach(each -> fromClient(MessageKind.of(each)));
  }

  /** An upstream sent a message. */
  void fromUpstream(MessageKind kind);

  /** A client began to follow a stream. */
  void connectionOpened();

  /** A client no longer follows a stream, for any reason. */
  void connectionClosed();

  /** Events went to their client but not into the log, because the store was away for too long. */
  void deliveredUnlogged(int events);

  /** A client's socket took events. */
  void delivered(int events);

  /**
   * Returns the listener for streams of an upstream. Asked once per writer and per reader of a
   * stream, so that an event costs no look-up.
   */
  StreamListener streamsOf(String upstream);

  /** The listener for calls of tools. */
  default CallListener calls() {
    return CallListener.NONE;
  }

  /** A client asked for events that were purged. */
  void gap();

  /**
   * This replica took over a stream of a lost replica.
   *
   * @param resumed whether the upstream resumes the stream; if not, the stream ends with an error
   */
  void takenOver(boolean resumed);

  /** An upstream failed a request or broke a stream. */
  void upstreamFailed(String upstream, UpstreamException failure);
}
