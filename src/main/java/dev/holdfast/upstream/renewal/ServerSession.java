package dev.holdfast.upstream.renewal;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A session at a server. Ids of events of a renewed one tell which it is, since another one may
 * have given the same ids.
 *
 * @param first the server's id of the session that the client has opened
 * @param number number of renewals since then
 * @param id the server's id of this one
 */
record ServerSession(String first, int number, String id) {

  private static final Pattern RECORD = Pattern.compile("(\\d{1,9}) (\\S+) (\\S+)");
  private static final Pattern EVENT_ID = Pattern.compile("renewed-(\\d{1,9}):(.*)");

  /** The session that the client has opened. */
  static ServerSession first(String id) {
    return new ServerSession(id, 0, id);
  }

  /** The session that takes the place of this one. */
  ServerSession next(String newId) {
    return new ServerSession(first, number + 1, newId);
  }

  /** Returns true if this one has taken the place of another. */
  boolean isAfter(ServerSession other) {
    return first.equals(other.first) && number > other.number;
  }

  /** A text for {@link #parse}. Ids of sessions are visible ASCII. */
  String format() {
    return number + " " + id + " " + first;
  }

  /** Parses what {@link #format} returned; empty for anything else. */
  static Optional<ServerSession> parse(@Nullable String text) {
    Matcher parts = RECORD.matcher(text == null ? "" : text);
    return parts.matches()
        ? Optional.of(
            new ServerSession(parts.group(3), Integer.parseInt(parts.group(1)), parts.group(2)))
        : Optional.empty();
  }

  /** The id of an event of this session for the rest of the gateway. */
  @Nullable String outside(@Nullable String eventId) {
    return eventId == null || number == 0 ? eventId : "renewed-" + number + ":" + eventId;
  }

  /** The server's id of an event of this session; null for that of another one. */
  @Nullable String inside(@Nullable String eventId) {
    if (eventId == null || numberOf(eventId) != number) {
      return null;
    }
    Matcher parts = EVENT_ID.matcher(eventId);
    return parts.matches() ? parts.group(2) : eventId;
  }

  /** The number of the session to which an event belongs. */
  static int numberOf(String eventId) {
    Matcher parts = EVENT_ID.matcher(eventId);
    return parts.matches() ? Integer.parseInt(parts.group(1)) : 0;
  }

  /** Keeps the ids out of logs: they are credentials. */
  @Override
  public String toString() {
    return "ServerSession[number=" + number + "]";
  }
}
