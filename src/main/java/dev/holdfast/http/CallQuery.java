package dev.holdfast.http;

import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.log.Position;
import jakarta.ws.rs.core.MultivaluedMap;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The query of a request that reads a call (Durable Streams, sections 5.6 to 5.8, 8 and 10.1).
 *
 * @param after the position to read from; null for the end of the stream
 * @param live how the client waits for messages
 * @param cursor the cursor of the last response; -1 for none
 */
record CallQuery(@Nullable Position after, Live live, long cursor) {

  /** Ways to wait for messages. */
  enum Live {
    /** Not at all. */
    NONE,
    /** The response comes with the next messages. */
    LONG_POLL,
    /** Messages are events of one response. */
    SSE
  }

  private static final String START = "-1";
  private static final String END = "now";

  /** Digits of each number of an offset, so that the order of texts is that of positions. */
  private static final int DIGITS = 16;

  private static final Pattern OFFSET =
      Pattern.compile("([0-9]{%d})_([0-9]{%d})".formatted(DIGITS, DIGITS));
  private static final Pattern CURSOR = Pattern.compile("[0-9]{1,15}");

  /** 9 October 2024, 0:00 UTC. */
  private static final long EPOCH_SECONDS = 1_728_432_000;

  private static final int INTERVAL_SECONDS = 20;
  private static final int MAX_JITTER_SECONDS = 3600;

  /**
   * Reads the parameters. Unknown ones are ignored.
   *
   * @throws RequestRejectedException with 400 if one is malformed or repeated
   */
  static CallQuery of(MultivaluedMap<String, String> parameters) {
    String offset = single(parameters, "offset");
    String live = single(parameters, "live");
    String cursor = single(parameters, "cursor");
    if (offset == null && live != null) {
      throw malformed("live needs an offset");
    }
    boolean hasCursor = cursor != null && CURSOR.matcher(cursor).matches();
    return new CallQuery(
        END.equals(offset) ? null : position(offset),
        live(live),
        hasCursor ? Long.parseLong(cursor) : -1);
  }

  private static @Nullable String single(MultivaluedMap<String, String> parameters, String name) {
    List<String> values = parameters.getOrDefault(name, List.of());
    if (values.size() > 1) {
      throw malformed(name + " is repeated");
    }
    return values.isEmpty() ? null : values.getFirst();
  }

  private static Position position(@Nullable String offset) {
    if (offset == null || offset.equals(START)) {
      return Position.START;
    }
    Matcher numbers = OFFSET.matcher(offset);
    if (!numbers.matches()) {
      throw malformed("offset is neither -1, now nor the Stream-Next-Offset of a response");
    }
    return new Position(Long.parseLong(numbers.group(1)), Long.parseLong(numbers.group(2)));
  }

  private static Live live(@Nullable String live) {
    return switch (live) {
      case null -> Live.NONE;
      case "long-poll" -> Live.LONG_POLL;
      case "sse" -> Live.SSE;
      default -> throw malformed("live is neither long-poll nor sse");
    };
  }

  private static RequestRejectedException malformed(String message) {
    return new RequestRejectedException(400, "Bad Request: " + message);
  }

  /** The offset of a position. */
  static String offset(Position position) {
    return ("%0" + DIGITS + "d_%0" + DIGITS + "d").formatted(position.millis(), position.number());
  }

  /** The number of the current interval of time; more than the cursor that the client has. */
  long nextCursor(InstantSource clock) {
    long current = interval(clock);
    int jitter = ThreadLocalRandom.current().nextInt(MAX_JITTER_SECONDS / INTERVAL_SECONDS) + 1;
    return cursor < current ? current : cursor + jitter;
  }

  /** The number of the current interval of time. */
  static long interval(InstantSource clock) {
    return (clock.instant().getEpochSecond() - EPOCH_SECONDS) / INTERVAL_SECONDS;
  }
}
