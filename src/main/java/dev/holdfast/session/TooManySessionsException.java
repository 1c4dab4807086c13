package dev.holdfast.session;

/** The limit of sessions is reached. */
public final class TooManySessionsException extends RuntimeException {
  /** Names the limit. */
  public TooManySessionsException(int limit) {
    super("more than " + limit + " sessions", null, false, false);
  }
}
