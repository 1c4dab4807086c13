package dev.holdfast.relay.tail;

import org.jspecify.annotations.Nullable;

/** The client closed its connection, which is normal: it can resume. */
public final class ClientGoneException extends Exception {
  /** Creates the exception without a stack trace, because clients leave all the time. */
  public ClientGoneException(@Nullable Throwable cause) {
    super("the client is gone", cause, false, false);
  }
}
