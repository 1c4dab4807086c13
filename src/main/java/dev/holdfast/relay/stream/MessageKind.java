package dev.holdfast.relay.stream;

import dev.holdfast.protocol.Message;

/** The kinds of JSON-RPC messages that metrics tell apart. */
public enum MessageKind {
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
