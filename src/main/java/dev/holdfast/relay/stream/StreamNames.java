package dev.holdfast.relay.stream;

import dev.holdfast.log.StreamRef;
import dev.holdfast.session.Session;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Names for streams. */
public final class StreamNames {

  /** The standalone stream of a session: what the upstream says unasked. */
  public static final String STANDALONE = "g";

  /** The one stream of a session over HTTP with SSE: it keeps the events of all its streams. */
  public static final String ONE = "m";

  private static final String ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
  private static final int LENGTH = 12;

  private StreamNames() {}

  /** A stream of a session. */
  public static StreamRef of(Session session, String name) {
    return new StreamRef(session.id().value(), name);
  }

  /** The standalone stream of a session. */
  public static StreamRef standalone(Session session) {
    return of(session, STANDALONE);
  }

  /** The one stream of a session over HTTP with SSE. */
  public static StreamRef one(Session session) {
    return of(session, ONE);
  }

  /** The stream that keeps the events of all streams of a session; null when each keeps its own. */
  public static @Nullable String keptIn(Session session) {
    return session.hasOneStream() ? ONE : null;
  }

  /**
   * A new name: 62 random bits, so that replicas need not ask each other. A name is no secret; the
   * log refuses one that its session has already.
   */
  public static String next() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    StringBuilder name = new StringBuilder(LENGTH);
    for (int i = 0; i < LENGTH; i++) {
      name.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
    }
    return name.toString();
  }
}
