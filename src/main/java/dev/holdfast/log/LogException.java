package dev.holdfast.log;

import org.jspecify.annotations.Nullable;

/** A log operation failed. Each subclass states whether something was written. */
public abstract sealed class LogException extends RuntimeException {

  private LogException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** The writer is not, or no longer, the owner of its stream. Nothing was written. */
  public static final class Fenced extends LogException {

    /** Names the stream. */
    public Fenced(StreamRef stream) {
      super("not the owner of stream " + stream, null);
    }
  }

  /**
   * The store did not answer a write and may have executed it. The caller may repeat the write; the
   * store does not apply it twice.
   */
  public static final class OutcomeUnknown extends LogException {

    /** Names the operation and the reason why there was no answer. */
    public OutcomeUnknown(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** There is no such session, or it has ended. */
  public static final class SessionEnded extends LogException {
    private final String session;

    /** Names a stream of the session. */
    public SessionEnded(StreamRef stream) {
      super("the session of stream " + stream + " has ended", null);
      this.session = stream.key().toString();
    }

    /** The session, as log lines show it. */
    public String session() {
      return session;
    }
  }

  /** The store did not carry out an operation. Nothing was written. */
  public static sealed class StoreUnavailable extends LogException {

    /** Names the operation and the reason. */
    public StoreUnavailable(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** Too many bytes wait in an inbox, or for the server of its session. Nothing was put. */
  public static final class InboxFull extends StoreUnavailable {

    /** Creates the exception. */
    public InboxFull() {
      super("too many bytes wait for the server", null);
    }
  }

  /** The session has the maximum of open streams. */
  public static final class TooManyStreams extends LogException {

    /** Names the limit. */
    public TooManyStreams(int limit) {
      super("more than " + limit + " open streams in one session", null);
    }
  }
}
