package dev.holdfast.log.ownership;

import dev.holdfast.log.StoreUnavailableException;

/** Too much waits in an inbox, or at the server for which it is; nothing was put. */
public final class InboxFullException extends StoreUnavailableException {
  /** Says so. */
  public InboxFullException() {
    super("too much waits for the server", null);
  }
}
