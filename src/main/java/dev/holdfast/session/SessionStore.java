package dev.holdfast.session;

import dev.holdfast.call.SessionId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records sessions. Thread-safe. Every replica on the same store finds a record at once.
 *
 * <p>A session that is not used for the idle timeout has expired: {@link #find} no longer finds it,
 * and exactly one caller of {@link #endExpired} gets it, to release its other resources. All
 * methods throw {@link SessionStoreException} when the store does not answer in time.
 */
public interface SessionStore {

  /** Maximum number of sessions on one page of {@link #list}. */
  int MAX_PAGE_SIZE = 500;

  /** A random id for a new session. If parts of the store are away, it belongs to another part. */
  default SessionId newId() {
    return SessionId.random();
  }

  /**
   * Records a new session. It expires after {@link Session#OPENING_TIMEOUT}, or sooner when few
   * places are left; the first {@link #touch} of an initialized session starts its idle timeout.
   * Expired sessions that were not ended yet do not count against the limits.
   *
   * @throws TooManySessionsException when the limit of all sessions, of the upstream or of the
   *     opener is reached; nothing was recorded
   */
  void create(Session session);

  /**
   * Completes the record of an uninitialized session, and starts its idle timeout.
   *
   * @param session the same session, now with an opened upstream
   * @return false when the session was initialized before, has ended or has expired; nothing was
   *     recorded
   */
  boolean completeInitialization(Session session);

  /** Finds a session that has neither ended nor expired. */
  Optional<Session> find(SessionId id);

  /**
   * Records that sessions are in use, which starts their idle timeout again. Does nothing for
   * unknown and expired sessions.
   *
   * @param since the activity since this replica last recorded one; added to the recorded activity
   * @return the sessions of which nothing was recorded, because their server of the store is away
   */
  Set<SessionId> touch(Map<SessionId, SessionActivity> since);

  /** Records activity as {@link #touch} does, but without starting the idle timeout again. */
  void recordActivity(Map<SessionId, SessionActivity> since);

  /**
   * When a session that has neither ended nor expired was last used, as {@link #touch} and {@link
   * #recordActivity} recorded it; when it was created if they never were called.
   */
  Optional<Instant> lastUsed(SessionId id);

  /**
   * Saves a value with which the session's upstream can be reopened. The value lives as long as the
   * session. Does nothing for unknown and expired sessions.
   *
   * @param name replaces an earlier value with this name
   * @param value opaque bytes; not copied
   */
  void saveUpstreamState(SessionId id, String name, byte[] value);

  /** A saved value of a session that has neither ended nor expired. */
  Optional<byte[]> upstreamState(SessionId id, String name);

  /**
   * Replaces a saved value if it is the expected one. Of several callers that expect the same
   * value, one replaces it.
   *
   * @param expected null for none
   * @param value not copied; null to remove it
   * @return whether it was replaced; false for unknown and expired sessions
   */
  boolean replaceUpstreamState(
      SessionId id, String name, byte @Nullable [] expected, byte @Nullable [] value);

  /**
   * Ends a session.
   *
   * @return whether this call ended it
   */
  boolean end(SessionId id);

  /**
   * Ends expired sessions.
   *
   * @param most maximum number of sessions to end
   * @return the sessions that this call ended; no other call returns them
   */
  List<Session> endExpired(int most);

  /** Number of sessions on all replicas. The cost does not depend on the number. */
  long count();

  /**
   * Lists sessions that have neither ended nor expired, page by page. Includes every session that
   * exists from the first page to the last. A session can be listed twice while others are created
   * and ended.
   *
   * @param from {@link Page#next} of the previous page; null for the first page
   * @param about approximate number of sessions to examine, 1 to {@value #MAX_PAGE_SIZE}; the page
   *     can have fewer sessions, none, or slightly more
   * @throws IllegalArgumentException when the cursor or the number is invalid
   */
  Page list(@Nullable String from, int about);

  /**
   * Lists the sessions that expire last: those that were used most recently. With a shared store,
   * the cost does not depend on the number of sessions.
   *
   * @param skip number of sessions that were used more recently, and are left out
   * @param most maximum number of sessions, 1 to {@value #MAX_PAGE_SIZE}
   * @throws IllegalArgumentException when the number is invalid
   */
  List<Page.Entry> latest(int skip, int most);

  /** Throws {@link IllegalArgumentException} unless a page may have so many sessions. */
  static void requirePageSize(int sessions) {
    if (sessions < 1 || sessions > MAX_PAGE_SIZE) {
      throw new IllegalArgumentException("a page has 1 to " + MAX_PAGE_SIZE + " sessions");
    }
  }

  /**
   * One page of a list of sessions.
   *
   * @param entries in no particular order
   * @param next where the next page begins, for {@link #list}; empty on the last page
   */
  record Page(List<Entry> entries, Optional<String> next) {

    /** Copies the entries. */
    public Page {
      entries = List.copyOf(entries);
    }

    /**
     * A session.
     *
     * @param activity as the replicas last recorded it, at most some minutes ago
     */
    public record Entry(Session session, SessionActivity activity) {}
  }
}
