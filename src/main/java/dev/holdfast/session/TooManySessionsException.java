package dev.holdfast.session;

/** There are as many sessions as there may be. */
public final class TooManySessionsException extends RuntimeException {
  /** Names the limit. */
  public TooManySessionsException(int limit) {
    super("more than " + limit + " sessions", null, false, false);
  }
}
