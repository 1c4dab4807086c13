package dev.holdfast.log.ownership;

import dev.holdfast.log.StoreUnavailableException;

/** Too many bytes wait in an inbox, or for the server of its session. Nothing was put. */
public final class InboxFullException extends StoreUnavailableException {
  /** Creates the exception. */
  public InboxFullException() {
    super("too many bytes wait for the server", null);
  }
}
