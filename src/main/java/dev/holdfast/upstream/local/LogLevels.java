package dev.holdfast.upstream.local;

import dev.holdfast.upstream.UpstreamException;
import java.util.Optional;

/**
 * The log levels that clients have chosen, by the names that a {@link LocalUpstream} has given
 * their sessions. Any replica may be told of one, and any may run the calls that go by it.
 *
 * <p>Thread-safe.
 */
public interface LogLevels {

  /**
   * Keeps a level, instead of the one before.
   *
   * @throws UpstreamException when it may not have been kept
   */
  void put(String session, LogLevel level);

  /**
   * The level of a session; empty if its client has chosen none, or so long ago that it was
   * forgotten.
   *
   * @throws UpstreamException when nobody can tell
   */
  Optional<LogLevel> find(String session);

  /** Forgets the level of a session that has ended. One that is never removed goes by itself. */
  void remove(String session);
}
