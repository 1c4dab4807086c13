package dev.holdfast.session;

import java.util.List;
import java.util.Optional;

/**
 * Where sessions are recorded. Thread-safe; what one replica records, every replica on the same
 * store finds at once.
 *
 * <p>A session that nobody used for the idle time-out has expired: it is no longer found, and one
 * caller of {@link #takeExpired} gets it, to end what belongs to it elsewhere. All methods throw
 * {@link SessionStoreException} when the store cannot be reached in time.
 */
public interface SessionStore {

  /**
   * Records a new session.
   *
   * @throws TooManySessionsException when there are as many as there may be; nothing was recorded
   */
  void create(Session session);

  /** Finds a session that has neither ended nor expired. */
  Optional<Session> find(SessionId id);

  /**
   * Notes that a session is in use, which starts its idle time-out anew. Unknown ids are ignored.
   */
  void touch(SessionId id);

  /**
   * Ends a session.
   *
   * @return whether it was this call that ended it
   */
  boolean end(SessionId id);

  /**
   * Ends sessions that have expired.
   *
   * @param most the most to take at once
   * @return those that this call ended, each given to one caller only
   */
  List<Session> takeExpired(int most);

  /** How many sessions there are, on all replicas. */
  long count();
}
