package dev.holdfast.relay.stream;

import dev.holdfast.protocol.Message;

/** The kinds of JSON-RPC messages, to count them. */
public enum MessageKind {
  /** Wants an answer. */
  REQUEST,
  /** Wants none. */
  NOTIFICATION,
  /** Is the answer: a result or an error. */
  RESPONSE;

  public static MessageKind of(Message message) {
    return switch (message) {
      case Message.Request _ -> REQUEST;
      case Message.Notification _ -> NOTIFICATION;
      case Message.Response _ -> RESPONSE;
    };
  }
}
