package dev.holdfast.upstream.local;

/**
 * A client did not give what a tool asked it for. The subclasses say why, and the message is fit
 * for the model. Without stack traces: any client can cause them at will.
 */
public abstract sealed class ClientException extends RuntimeException
    permits ClientException.Unsupported,
        ClientException.TimedOut,
        ClientException.Refused,
        ClientException.Unreadable {
  private ClientException(String message) {
    super(message, null, false, false);
  }

  /** It did not declare that it can be asked; it was not. */
  public static final class Unsupported extends ClientException {
    Unsupported(String method) {
      super("The client cannot be asked for this: " + method);
    }
  }

  /** It took too long, and was told that it need not answer any more. */
  public static final class TimedOut extends ClientException {
    TimedOut(String method) {
      super("The client did not answer in time: " + method);
    }
  }

  /** It answered with an error, for instance since a person said no. */
  public static final class Refused extends ClientException {
    private final int code;

    Refused(String method, int code, String message) {
      super("The client refused: " + method + ": " + message);
      this.code = code;
    }

    /** The JSON-RPC error code. */
    public int code() {
      return code;
    }
  }

  /** Its answer is not what was asked for. */
  public static final class Unreadable extends ClientException {
    Unreadable(String method, String problem) {
      super("The client's answer does not fit: " + method + ": " + problem);
    }
  }
}
