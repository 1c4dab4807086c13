package dev.holdfast.relay.tail;

import org.jspecify.annotations.Nullable;

/** The client closed its connection. Nothing is wrong: it may come back and resume. */
public final class ClientGoneException extends Exception {
  /** Keeps the cause, and no stack trace: this happens all the time. */
  public ClientGoneException(@Nullable Throwable cause) {
    super("the client is gone", cause, false, false);
  }
}
