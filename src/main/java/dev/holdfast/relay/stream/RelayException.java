package dev.holdfast.relay.stream;

import dev.holdfast.log.Position;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a client asked for cannot be had. The subclasses say why. */
public abstract sealed class RelayException extends RuntimeException
    permits RelayException.SessionNotFound,
        RelayException.StreamNotFound,
        RelayException.EventsPurged,
        RelayException.UnsupportedVersion,
        RelayException.UnknownUpstream,
        RelayException.NotInitialized,
        RelayException.Draining {
  private RelayException(String message) {
    super(message, null, false, false);
  }

  /** There is no such session, it has ended, or it belongs to another upstream. */
  public static final class SessionNotFound extends RelayException {
    /** Says so. */
    public SessionNotFound() {
      super("Session not found");
    }
  }

  /** The session has no such stream. */
  public static final class StreamNotFound extends RelayException {
    /** Says so. */
    public StreamNotFound() {
      super("The session has no such stream");
    }
  }

  /** Events after the client's cursor are gone. */
  public static final class EventsPurged extends RelayException {
    private final @Nullable EventId firstAvailable;

    /**
     * Says so.
     *
     * @param asked the event that the client named
     * @param firstAvailable the oldest event that is kept; null when none is
     */
    public EventsPurged(EventId asked, @Nullable Position firstAvailable) {
      super("Events after this one are no longer kept");
      this.firstAvailable = firstAvailable == null ? null : asked.at(firstAvailable);
    }

    /** The oldest event that is kept; empty when none is. */
    public Optional<EventId> firstAvailable() {
      return Optional.ofNullable(firstAvailable);
    }
  }

  /** The upstream chose a protocol version that the gateway does not speak. */
  public static final class UnsupportedVersion extends RelayException {
    /** Says so. */
    public UnsupportedVersion() {
      super("Server and gateway have no protocol version in common");
    }
  }

  /** No upstream has this name. */
  public static final class UnknownUpstream extends RelayException {
    /** Says so. */
    public UnknownUpstream() {
      super("No such server");
    }
  }

  /** The session has to be initialized before anything else. */
  public static final class NotInitialized extends RelayException {
    /** Says so. */
    public NotInitialized() {
      super("The session is not initialized");
    }
  }

  /** This replica is about to stop and takes nothing new. Another one does. */
  public static final class Draining extends RelayException {
    /** Says so. */
    public Draining() {
      super("This replica is about to stop; try again");
    }
  }
}
