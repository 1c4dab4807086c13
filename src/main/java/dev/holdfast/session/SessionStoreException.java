package dev.holdfast.session;

import org.jspecify.annotations.Nullable;

/** The store of sessions could not be asked, or did not answer in time. */
public final class SessionStoreException extends RuntimeException {
  /** Keeps the cause. */
  public SessionStoreException(@Nullable Throwable cause) {
    super("the session store does not answer", cause);
  }
}
