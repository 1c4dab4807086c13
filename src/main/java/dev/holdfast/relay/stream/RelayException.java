package dev.holdfast.relay.stream;

import dev.holdfast.call.SessionId;
import dev.holdfast.log.Position;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The relay refuses what a client asks for. Each subclass is one reason. */
public abstract sealed class RelayException extends RuntimeException {

  private RelayException(String message) {
    super(message, null, false, false);
  }

  /** The session does not exist, has ended, or belongs to another upstream. */
  public static final class SessionNotFound extends RelayException {
    private final @Nullable SessionId session;
    private final String reason;

    /**
     * Creates the exception.
     *
     * @param session the session that the client names; null without one
     * @param reason what became of it, for the log: clients are not told
     */
    public SessionNotFound(@Nullable SessionId session, String reason) {
      super("Session not found");
      this.session = session;
      this.reason = reason;
    }

    /** The session that the client names; empty without one. */
    public Optional<SessionId> session() {
      return Optional.ofNullable(session);
    }

    /** The reason, for the log. */
    public String reason() {
      return reason;
    }
  }

  /** The session has no such stream. */
  public static final class StreamNotFound extends RelayException {
    public StreamNotFound() {
      super("The session has no such stream");
    }
  }

  /** Events after the client's cursor were purged. */
  public static final class EventsPurged extends RelayException {
    private final @Nullable EventId firstAvailable;

    /**
     * Creates the exception.
     *
     * @param asked the event id that the client sent
     * @param firstAvailable the oldest event in the log; null when the log has none
     */
    public EventsPurged(EventId asked, @Nullable Position firstAvailable) {
      super("Events after this one are no longer kept");
      this.firstAvailable = firstAvailable == null ? null : asked.at(firstAvailable);
    }

    /** The oldest event in the log; empty when the log has none. */
    public Optional<EventId> firstAvailable() {
      return Optional.ofNullable(firstAvailable);
    }
  }

  /** The upstream chose a protocol version that the gateway does not support. */
  public static final class UnsupportedVersion extends RelayException {
    public UnsupportedVersion() {
      super("Server and gateway have no protocol version in common");
    }
  }

  /** The upstream did not answer {@code initialize} with MCP. It has executed nothing. */
  public static final class NotOpened extends RelayException {

    /** Tells what came instead. */
    public NotOpened(String what) {
      super("The server opened no session, and executed nothing: " + what);
    }
  }

  /** No upstream has this name. */
  public static final class UnknownUpstream extends RelayException {
    public UnknownUpstream() {
      super("No such server");
    }
  }

  /** The client sent something else before {@code initialize}. */
  public static final class NotInitialized extends RelayException {
    public NotInitialized() {
      super("The session is not initialized");
    }
  }

  /** The version of the session does not allow the batch that the client sent. */
  public static final class InvalidBatch extends RelayException {
    public InvalidBatch(String message) {
      super(message);
    }
  }

  /** The client has left and may have repeated its call; nothing was executed. */
  public static final class ClientLeft extends RelayException {
    /** Creates the exception. */
    public ClientLeft() {
      super("The client has left");
    }
  }

  /** This replica is draining. Another replica serves the request. */
  public static final class Draining extends RelayException {
    public Draining() {
      super("This replica is about to stop; try again");
    }
  }
}
