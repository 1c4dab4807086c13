package dev.holdfast.relay;

import org.jspecify.annotations.Nullable;

/** The client closed its connection. Nothing is wrong: it may come back and resume. */
public final class ClientGoneException extends Exception {

  private static final long serialVersionUID = 1L;

  /** Keeps the cause, and no stack trace: this happens all the time. */
  public ClientGoneException(@Nullable Throwable cause) {
    super("the client is gone", cause, false, false);
  }
}
