package dev.holdfast.log;

/** There is no such session, or it has ended. */
public final class SessionEndedException extends LogException {
  /** Names a stream of the session. */
  public SessionEndedException(StreamRef stream) {
    super("the session of stream " + stream + " has ended", null);
  }
}
