package dev.holdfast.log;

/** The session has the maximum of open streams. */
public final class TooManyStreamsException extends LogException {
  /** Names the limit. */
  public TooManyStreamsException(int limit) {
    super("more than " + limit + " open streams in one session", null);
  }
}
