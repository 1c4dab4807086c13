package dev.holdfast.session;

import org.jspecify.annotations.Nullable;

/** The session store could not be reached or did not answer in time. */
public final class SessionStoreException extends RuntimeException {
  /** Keeps the cause. */
  public SessionStoreException(@Nullable Throwable cause) {
    super("the session store does not answer", cause);
  }
}
