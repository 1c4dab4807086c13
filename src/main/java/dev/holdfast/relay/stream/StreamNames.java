package dev.holdfast.relay.stream;

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

  private static final String ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
  private static final int LENGTH = 12;

  private StreamNames() {}

  /** A stream of a session, by its name. */
  public static StreamRef of(Session session, String name) {
    return new StreamRef(session.id().value(), name);
  }

  /** The standalone stream of a session. */
  public static StreamRef standalone(Session session) {
    return of(session, STANDALONE);
  }

  /** The shared stream of a session over HTTP with SSE. */
  public static StreamRef shared(Session session) {
    return of(session, SHARED);
  }

  /** A stream of a session with a new name, for requests. */
  public static StreamRef next(Session session) {
    return of(session, newName());
  }

  /**
   * The name of the stream that holds the events of all streams of a session; null when each stream
   * holds its own.
   */
  public static @Nullable String sharedName(Session session) {
    return session.hasOneStream() ? SHARED : null;
  }

  /**
   * A new name of 62 random bits, so that replicas need no coordination. Names are not secret. The
   * log refuses a name that the session has already.
   */
  private static String newName() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    StringBuilder name = new StringBuilder(LENGTH);
    for (int i = 0; i < LENGTH; i++) {
      name.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
    }
    return name.toString();
  }
}
