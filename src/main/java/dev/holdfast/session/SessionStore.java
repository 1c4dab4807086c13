package dev.holdfast.session;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where sessions are recorded. Thread-safe; what one replica records, every replica on the same
 * store finds at once.
 *
 * <p>A session that nobody used for the idle time-out has expired: it is no longer found, and one
 * caller of {@link #endExpired} gets it, to end what belongs to it elsewhere. All methods throw
 * {@link SessionStoreException} when the store cannot be reached in time.
 */
public interface SessionStore {

  /** The most sessions that {@link #list} is asked for at once. */
  int MAX_PAGE_SIZE = 500;

  /**
   * How long a session lives at the most that is opened and not {@link Session#isInitialized
   * initialized}: it costs its client nothing, and must not take the place of others for long.
   */
  Duration OPENING_TIMEOUT = Duration.ofMinutes(1);

  /**
   * Records a new session. One that is not {@link Session#isInitialized initialized} expires {@link
   * #OPENING_TIMEOUT} from now, used or not, unless it is by then. Those that have expired and wait
   * to be taken do not count against the limits.
   *
   * @throws TooManySessionsException when there are as many as there may be, of all or of the
   *     upstream; nothing was recorded
   */
  void create(Session session);

  /**
   * Completes the record of a session that was opened, and starts its idle time-out.
   *
   * @param session the same, now with its upstream's side
   * @return false when that was done before, or the session has ended or expired; nothing was
   *     recorded
   */
  boolean completeInitialization(Session session);

  /** Finds a session that has neither ended nor expired. */
  Optional<Session> find(SessionId id);

  /**
   * Notes that a session is in use, which starts its idle time-out anew. Ids that are unknown, or
   * of sessions that have expired, are ignored.
   *
   * @param since what happened since the last touch or note from here; is added to what is recorded
   */
  void touch(SessionId id, SessionActivity since);

  /**
   * Notes what happened in a session, as {@link #touch} does, but not that it is still in use: its
   * idle time-out runs on.
   */
  void recordActivity(SessionId id, SessionActivity since);

  /**
   * Keeps something with a session for as long as that lives. Ids that are unknown, or of sessions
   * that have expired, are ignored.
   *
   * @param name under which it is kept, in place of what was kept under it before
   * @param value opaque here; not copied
   */
  void saveUpstreamState(SessionId id, String name, byte[] value);

  /** What was kept under a name with a session that has neither ended nor expired. */
  Optional<byte[]> upstreamState(SessionId id, String name);

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
  List<Session> endExpired(int most);

  /** How many sessions there are, on all replicas. Takes the same short time however many. */
  long count();

  /**
   * Lists sessions that have neither ended nor expired, page by page. Those that live from the
   * first page to the last are listed; one can come twice when others come and go meanwhile.
   *
   * @param from {@link SessionPage#next} of the page before; null for the first
   * @param about how many sessions to look at, 1 to {@value #MOST_LISTED}: there may be fewer on
   *     the page, even none, and somewhat more
   * @throws IllegalArgumentException when there is no such page, or it would be too large
   */
  SessionPage list(@Nullable String from, int about);
}
