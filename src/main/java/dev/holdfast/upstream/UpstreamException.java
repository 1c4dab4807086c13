package dev.holdfast.upstream;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A failure of a server. The subclasses tell what the server may have seen. */
public abstract sealed class UpstreamException extends RuntimeException {
  private UpstreamException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** No connection could be made: the server has seen nothing. */
  public static final class Unreachable extends UpstreamException {
    public Unreachable(@Nullable Throwable cause) {
      super("the upstream cannot be reached", cause);
    }
  }

  /**
   * The server asks for a token, and there is none that it takes: the server has not acted. A newer
   * one of the client may mend this.
   */
  public static final class NoToken extends UpstreamException {

    /** Time for which a running call waits for a newer token. */
    public static final Duration PATIENCE = Duration.ofSeconds(30);

    public NoToken() {
      super("there is no valid access token for the upstream", null);
    }
  }

  /** The limit of sessions or connections is reached: the server has seen nothing. */
  public static final class Busy extends UpstreamException {

    /** The limit that is reached. */
    public enum Limit {
      SESSIONS,
      /** The share of one opener. */
      SESSIONS_OF_OPENER,
      /** Another one. */
      REQUESTS
    }

    private static final Duration SOON = Duration.ofSeconds(1);

    private final Limit limit;
    private final Duration retryAfter;

    /** A limit other than that of sessions. */
    public Busy() {
      this(Limit.REQUESTS, SOON);
    }

    /** A limit of sessions. */
    public Busy(Limit limit) {
      this(limit, SOON);
    }

    /** A limit, and when there may be room again. */
    public Busy(Limit limit, Duration retryAfter) {
      super("there is no room for more at the upstream", null);
      this.limit = limit;
      this.retryAfter = retryAfter;
    }

    /** The limit that is reached. */
    public Limit limit() {
      return limit;
    }

    /** Time until there may be room. */
    public Duration retryAfter() {
      return retryAfter;
    }
  }

  /** The server accepted the request, and then did not answer or fell silent for too long. */
  public static final class TimedOut extends UpstreamException {

    /** The key of the time without any byte of an answer. */
    public static final String FIRST_BYTE = "upstream.first-byte-timeout";

    /** The key of the silence of a running call. */
    public static final String IDLE = "upstream.idle-timeout";

    private final @Nullable String key;

    public TimedOut(String what) {
      this(what, null);
    }

    /** {@code key} is the configuration key of the time limit; null for a fixed one. */
    public TimedOut(String what, @Nullable String key) {
      super("the upstream was too slow: " + what + (key == null ? "" : ", see " + key), null);
      this.key = key;
    }

    /** The configuration key of the time limit. */
    public Optional<String> key() {
      return Optional.ofNullable(key);
    }
  }

  /** The server does not know the session. */
  public static final class SessionGone extends UpstreamException {

    private final boolean inCall;

    public SessionGone() {
      this(false);
    }

    /** {@code inCall} tells whether the server had a request, whose outcome is unknown now. */
    public SessionGone(boolean inCall) {
      super("the upstream does not know the session", null);
      this.inCall = inCall;
    }

    /** Returns true if the server had a request, whose outcome is unknown now. */
    public boolean inCall() {
      return inCall;
    }
  }

  /** The server answered with an HTTP error. */
  public static final class Refused extends UpstreamException {
    private final int status;
    private final byte @Nullable [] error;
    private final @Nullable Duration retryAfter;
    private final List<String> clientHeaders;
    private final @Nullable String challenge;

    /**
     * A refusal.
     *
     * @param status the HTTP status, 400 to 599
     * @param error the JSON-RPC error in the body, on one line; null for none. Dropped if the
     *     status {@linkplain #isAboutCredentials is about credentials}
     * @param retryAfter wait before a retry that the server asks for; null for none
     * @param clientHeaders names of the client's headers that the request had
     * @param challenge the value of {@code WWW-Authenticate} for the client; null for none
     */
    public Refused(
        int status,
        byte @Nullable [] error,
        @Nullable Duration retryAfter,
        List<String> clientHeaders,
        @Nullable String challenge) {
      super("the upstream refused with status " + status, null);
      this.status = status;
      this.error = isAboutCredentials(status) ? null : error;
      this.retryAfter = retryAfter;
      this.clientHeaders = List.copyOf(clientHeaders);
      this.challenge = challenge;
    }

    /** The refusal of a request without headers of a client. */
    public Refused(int status, byte @Nullable [] error, @Nullable Duration retryAfter) {
      this(status, error, retryAfter, List.of(), null);
    }

    /**
     * Returns true if a status is about credentials, usually the gateway's own. What a server says
     * about them is not for clients, so such a refusal has no JSON-RPC error.
     */
    public static boolean isAboutCredentials(int status) {
      return status == 401 || status == 403 || status == 407;
    }

    /**
     * Returns true if the request may be repeated. 409 of a stream is such a status: the server has
     * not noticed yet that the connection of a lost replica is dead.
     */
    public boolean isTemporary() {
      return status >= 500 || status == 408 || status == 409 || status == 425 || status == 429;
    }

    /** The wait before a retry that the server asks for. */
    public Optional<Duration> retryAfter() {
      return Optional.ofNullable(retryAfter);
    }

    /**
     * Names of the client's headers that the request had. They may be the reason for a refusal;
     * without any, a refusal about credentials is for the operator of the gateway.
     */
    public List<String> clientHeaders() {
      return clientHeaders;
    }

    /** Demands that the client must meet to be let in: a value of {@code WWW-Authenticate}. */
    public Optional<String> challenge() {
      return Optional.ofNullable(challenge);
    }

    /** The HTTP status, 400 to 599. */
    public int status() {
      return status;
    }

    /** The JSON-RPC error in the body, on one line; null for none. */
    public byte @Nullable [] error() {
      return error;
    }
  }

  /** The server executed the request, but its response was too large to be kept. */
  public static final class TooLarge extends UpstreamException {

    /** The key of the limit. */
    public static final String KEY = "holdfast.limits.server-message-bytes";

    /**
     * A response that was dropped.
     *
     * @param bytes its size, as far as it is known
     * @param whole whether that is its whole size
     * @param limit in bytes. A smaller response was dropped because memory was short
     */
    public TooLarge(long bytes, boolean whole, int limit) {
      super(
          "the server executed the request, but its response of %s%d bytes %s %s (%d bytes)"
              .formatted(
                  whole ? "" : "more than ",
                  bytes,
                  bytes > limit
                      ? "exceeds"
                      : "exceeds the memory that other messages leave, though not",
                  KEY,
                  limit),
          null);
    }

    /** The message for a client. */
    public String clientMessage() {
      String message = String.valueOf(getMessage());
      return Character.toUpperCase(message.charAt(0)) + message.substring(1);
    }
  }

  /** The connection broke, or the answer was not MCP: the server may have acted. */
  public static final class Broken extends UpstreamException {
    public Broken(String what, @Nullable Throwable cause) {
      super("the upstream's answer broke: " + what, cause);
    }

    /** A failure of an interrupted wait. Sets the interrupt of this thread again. */
    public static Broken interrupted(InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Broken("the waiting thread was interrupted", e);
    }
  }
}
