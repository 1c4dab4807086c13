package dev.holdfast.relay.stream;

import dev.holdfast.call.SessionId;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import dev.holdfast.session.Session;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Names of the streams of a session. */
public final class StreamNames {

  /** The standalone stream: what the upstream sends outside of any request. */
  public static final String STANDALONE = "g";

  /** The shared stream of a session over HTTP with SSE, which holds the events of all streams. */
  public static final String SHARED = "m";

  /**
   * First letter of the names of streams that the upstream writes, and not a pump. Agent sessions
   * have such streams. All other names are in lower case.
   */
  public static final String UPSTREAM_PREFIX = "A";

  private static final int RADIX = Character.MAX_RADIX;

  /** The least number of twelve digits. */
  private static final long LEAST = Math.powExact((long) RADIX, 11);

  private StreamNames() {}

  /**
   * Returns true if the streams of that name answer requests, so that clients await what they
   * bring.
   */
  public static boolean areForRequests(String name) {
    return !name.equals(STANDALONE) && !name.startsWith(UPSTREAM_PREFIX);
  }

  /** The owner of a session's streams in the log. */
  public static LogKey key(SessionId session) {
    return new LogKey(session.value());
  }

  /** Returns the session of a stream. */
  public static SessionId session(StreamRef stream) {
    return new SessionId(stream.key().value());
  }

  /** A stream of a session, by its name. */
  public static StreamRef of(Session session, String name) {
    return new StreamRef(key(session.id()), name);
  }

  /** The standalone stream of a session. */
  public static StreamRef standalone(Session session) {
    return of(session, STANDALONE);
  }

  /** The shared stream of a session over HTTP with SSE. */
  public static StreamRef shared(Session session) {
    return of(session, SHARED);
  }

  /**
   * A stream of a session with a new name, for requests. Names have 62 random bits, so that
   * replicas need no coordination. They are not secret. The log refuses a name that the session has
   * already.
   */
  public static StreamRef next(Session session) {
    long name = ThreadLocalRandom.current().nextLong(LEAST, LEAST * RADIX);
    return of(session, Long.toString(name, RADIX));
  }

  /** Returns true if a stream answers requests, so that it ends with a result. */
  public static boolean answersRequests(StreamRef stream) {
    return areForRequests(stream.name()) && !stream.name().equals(SHARED);
  }

  /**
   * The name of the stream that holds the events of all streams of a session; null when each stream
   * holds its own.
   */
  public static @Nullable String sharedName(Session session) {
    return session.hasOneStream() ? SHARED : null;
  }
}
