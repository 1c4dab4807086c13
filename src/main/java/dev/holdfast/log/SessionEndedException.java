package dev.holdfast.log;

/** There is no such session, or it has ended. */
public final class SessionEndedException extends LogException {
  /** Says so of the session of a stream. */
  public SessionEndedException(StreamRef stream) {
    super("the session of stream " + stream + " has ended", null);
  }
}
