package dev.holdfast.upstream;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A server that did not answer as it should. The subclasses say how. */
public abstract sealed class UpstreamException extends RuntimeException
    permits UpstreamException.Unreachable,
        UpstreamException.Busy,
        UpstreamException.TimedOut,
        UpstreamException.SessionGone,
        UpstreamException.Refused,
        UpstreamException.Broken {
  private UpstreamException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** No connection could be made: the server has seen nothing. */
  public static final class Unreachable extends UpstreamException {
    /** Keeps the cause. */
    public Unreachable(@Nullable Throwable cause) {
      super("the upstream cannot be reached", cause);
    }
  }

  /** There is no room for another session or request at the moment: the server has seen nothing. */
  public static final class Busy extends UpstreamException {
    /** Says so. */
    public Busy() {
      super("there is no room for more at the upstream", null);
    }
  }

  /** The server took the request and did not answer, or fell silent, for longer than allowed. */
  public static final class TimedOut extends UpstreamException {
    /** Names what was waited for. */
    public TimedOut(String what) {
      super("the upstream was too slow: " + what, null);
    }
  }

  /** The server does not know the session (any more). */
  public static final class SessionGone extends UpstreamException {
    /** Says so. */
    public SessionGone() {
      super("the upstream does not know the session", null);
    }
  }

  /** The server answered with an HTTP error, or its like. */
  public static final class Refused extends UpstreamException {
    private final int status;
    private final byte @Nullable [] error;
    private final @Nullable Duration retryAfter;

    /**
     * Keeps what can be passed on.
     *
     * @param status the HTTP status, 400 to 599
     * @param error the JSON-RPC error that came with it, on one line; null when none did
     */
    public Refused(int status, byte @Nullable [] error) {
      this(status, error, null);
    }

    /**
     * Keeps what can be passed on.
     *
     * @param retryAfter after which time the server lets us come back; null when it did not say
     */
    public Refused(int status, byte @Nullable [] error, @Nullable Duration retryAfter) {
      super("the upstream refused with status " + status, null);
      this.status = status;
      this.error = error;
      this.retryAfter = retryAfter;
    }

    /** After which time the server lets us come back, if it said so. */
    public Optional<Duration> retryAfter() {
      return Optional.ofNullable(retryAfter);
    }

    /** The HTTP status, 400 to 599. */
    public int status() {
      return status;
    }

    /** The JSON-RPC error that came with the status; null when none did. */
    public byte @Nullable [] error() {
      return error;
    }
  }

  /** The connection broke, or what came was no MCP; what the server did is not known. */
  public static final class Broken extends UpstreamException {
    /** Says what broke. */
    public Broken(String what, @Nullable Throwable cause) {
      super("the upstream's answer broke: " + what, cause);
    }
  }
}
