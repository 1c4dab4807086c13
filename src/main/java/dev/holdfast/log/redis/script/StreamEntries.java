package dev.holdfast.log.redis.script;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Converts the entries of a Redis stream to events. An entry has the field {@code d} with the
 * message, {@code u} with the upstream's own id of the event, {@code z} if it is the last event,
 * and {@code c} with what {@link StreamField#CALL} had.
 */
public final class StreamEntries {

  private static final byte[] EMPTY = {};

  private StreamEntries() {}

  /** Converts a reply to XRANGE or XREVRANGE. */
  public static List<LogEvent> of(@Nullable Response entries) {
    if (entries == null) {
      return List.of();
    }
    List<LogEvent> events = new ArrayList<>(entries.size());
    for (Response entry : entries) {
      events.add(event(entry.get(0), entry.get(1)));
    }
    return events;
  }

  /** The position of the first entry in a reply to XRANGE or XREVRANGE. */
  public static Optional<Position> first(@Nullable Response entries) {
    return of(entries).stream().findFirst().map(LogEvent::position);
  }

  private static LogEvent event(Response id, Response fields) {
    byte[] payload = EMPTY;
    String upstreamId = null;
    boolean last = false;
    for (int i = 0; i + 1 < fields.size(); i += 2) {
      Response value = fields.get(i + 1);
      switch (fields.get(i).toString()) {
        case "d" -> payload = value.toBytes();
        case "u" -> upstreamId = value.toString();
        case "z" -> last = true;
        default -> {
          // A newer version of this program may add fields.
        }
      }
    }
    return new LogEvent(position(id), payload, upstreamId, last);
  }

  private static Position position(Response id) {
    String text = id.toString();
    return Position.parse(text)
        .orElseThrow(() -> new IllegalStateException("not the id of an event: " + text));
  }

  /**
   * The first event, and those after it that fit on a page and come before the first gap in their
   * numbers. The next read reports the gap.
   */
  public static List<LogEvent> page(List<LogEvent> events, long maxBytes) {
    long bytes = events.getFirst().payload().length;
    for (int i = 1; i < events.size(); i++) {
      long expected = events.get(i - 1).position().number() + 1;
      bytes += events.get(i).payload().length;
      if (events.get(i).position().number() != expected || bytes > maxBytes) {
        return List.copyOf(events.subList(0, i)); // The others may be many bytes.
      }
    }
    return events;
  }
}
