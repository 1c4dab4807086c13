package dev.holdfast.upstream.local;

/**
 * A client did not give the result that a tool asked for. The model may see the message. The
 * exception has no stack trace, because any client can cause it.
 */
public abstract sealed class ClientException extends RuntimeException
    permits ClientException.Unsupported,
        ClientException.TimedOut,
        ClientException.Refused,
        ClientException.Unreadable {
  private ClientException(String message) {
    super(message, null, false, false);
  }

  /** The client did not declare the capability. No request was sent. */
  public static final class Unsupported extends ClientException {
    /** Names the method of the request. */
    public Unsupported(String method) {
      super("The client cannot be asked for this: " + method);
    }
  }

  /** No response came in time. The request was cancelled. */
  public static final class TimedOut extends ClientException {
    /** Names the method of the request. */
    public TimedOut(String method) {
      super("The client did not answer in time: " + method);
    }
  }

  /** The client responded with an error, for instance because a person said no. */
  public static final class Refused extends ClientException {
    private final int code;

    /**
     * Keeps the client's error.
     *
     * @param code the JSON-RPC error code
     */
    public Refused(String method, int code, String message) {
      super("The client refused: " + method + ": " + message);
      this.code = code;
    }

    /** Returns the JSON-RPC error code. */
    public int code() {
      return code;
    }
  }

  /** The client's response does not fit the request. */
  public static final class Unreadable extends ClientException {
    /** Names the method of the request, and the problem with the response. */
    public Unreadable(String method, String problem) {
      super("The client's answer does not fit: " + method + ": " + problem);
    }
  }
}
