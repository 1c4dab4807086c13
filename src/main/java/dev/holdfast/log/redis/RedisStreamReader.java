package dev.holdfast.log.redis;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.script.StreamEntries;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads a stream in Redis from a cursor, and detects gaps between the cursor and the next event.
 *
 * <p>A page begins with the cursor's own event. If Redis returns that event first, earlier events
 * do not matter. If that event was purged, the first event must have the next number.
 */
final class RedisStreamReader {

  /** Maximum number of events on a page. Bounds the size of a reply. */
  private static final int MAX_PAGE = 10_000;

  private final RedisClient client;
  private final RedisKeys keys;

  RedisStreamReader(RedisClient client, RedisKeys keys) {
    this.client = client;
    this.keys = keys;
  }

  /**
   * The result of one round trip.
   *
   * @param lastOfOpen the position of the last event, if the stream is open
   */
  private record Page(@Nullable Position lastOfOpen, boolean sessionExists, List<LogEvent> events) {

    static Page of(@Nullable Response fields, @Nullable Response entries, boolean sessionExists) {
      return new Page(lastOfOpen(fields), sessionExists, StreamEntries.of(entries));
    }

    private static @Nullable Position lastOfOpen(@Nullable Response fields) {
      if (fields == null || fields.get(0) == null) {
        return null;
      }
      Response last = fields.get(1);
      return last == null ? Position.START : Position.parse(last.toString()).orElse(Position.START);
    }
  }

  ReadResult read(StreamRef stream, Position after, int maxEvents) {
    return read(stream, after, maxEvents, false);
  }

  private ReadResult read(StreamRef stream, Position after, int maxEvents, boolean again) {
    Page page = fetch(stream, after, Math.min(maxEvents, MAX_PAGE));
    if (!page.sessionExists()) {
      return new ReadResult.NoSuchStream();
    }
    if (page.events().isEmpty()) {
      if (page.lastOfOpen() != null) {
        return atEndOfOpen(stream, after, page.lastOfOpen());
      }
      Optional<Position> oldest = oldest(stream);
      if (oldest.isEmpty()) {
        return new ReadResult.NoSuchStream();
      }
      // The stream may have been opened after the page was fetched.
      return again ? new ReadResult.Gap(oldest.get()) : read(stream, after, maxEvents, true);
    }
    LogEvent first = page.events().getFirst();
    if (first.position().equals(after)) {
      return afterCursor(first, page);
    }
    long ahead = first.position().number() - after.number();
    if (ahead > 1) {
      return new ReadResult.Gap(first.position());
    }
    return ahead < 1 || isNumberReused(stream, after)
        ? gapFromOldest(stream, page.lastOfOpen())
        : events(page.events(), maxEvents);
  }

  /**
   * Reads the fields before the entries. In the other order, an append in between would look like a
   * loss. Reads the existence of the session last. If the session ends in between, its stream is
   * unknown and has no gap.
   */
  private Page fetch(StreamRef stream, Position after, int maxEvents) {
    String session = keys.session(stream.session());
    List<@Nullable Response> replies =
        client.sendAll(
            List.of(
                Request.cmd(Command.HMGET)
                    .arg(session)
                    .arg(StreamField.OWNER.of(stream))
                    .arg(StreamField.LAST.of(stream)),
                entries(Command.XRANGE, stream, after.toString(), "+", maxEvents + 1),
                Request.cmd(Command.EXISTS).arg(session)));
    Response exists = replies.get(2);
    return Page.of(replies.get(0), replies.get(1), exists != null && exists.toString().equals("1"));
  }

  /** An open stream has no event at the cursor or after it. */
  private ReadResult atEndOfOpen(StreamRef stream, Position after, Position last) {
    if (after.equals(last) || (after.number() == 0 && last.number() == 0)) {
      return new ReadResult.Events(List.of());
    }
    return after.number() < last.number()
        ? new ReadResult.Gap(null, last)
        : gapFromOldest(stream, last);
  }

  /** The stream has the cursor's own event. */
  private static ReadResult afterCursor(LogEvent own, Page page) {
    List<LogEvent> rest = page.events().subList(1, page.events().size());
    if (!rest.isEmpty()) {
      Position next = rest.getFirst().position();
      boolean follows = next.number() == own.position().number() + 1;
      return follows
          ? new ReadResult.Events(StreamEntries.upToGap(rest))
          : new ReadResult.Gap(next);
    }
    if (own.last()) {
      return new ReadResult.EndOfStream();
    }
    Position last = page.lastOfOpen();
    boolean atEnd = last != null && last.number() <= own.position().number();
    return atEnd ? new ReadResult.Events(List.of()) : new ReadResult.Gap(null, last);
  }

  private static ReadResult events(List<LogEvent> found, int maxEvents) {
    List<LogEvent> whole = StreamEntries.upToGap(found);
    return new ReadResult.Events(whole.subList(0, Math.min(maxEvents, whole.size())));
  }

  /**
   * Whether another event with an earlier time has the cursor's number. That happens when the store
   * loses the cursor's event and its clock goes back. Runs only when the cursor's event is missing,
   * which is rare.
   */
  private boolean isNumberReused(StreamRef stream, Position after) {
    if (after.number() == 0) {
      return false;
    }
    List<LogEvent> before =
        StreamEntries.of(client.send(entries(Command.XREVRANGE, stream, after.toString(), "-", 1)));
    return !before.isEmpty() && before.getFirst().position().number() >= after.number();
  }

  /** The cursor does not belong to this log. */
  private ReadResult.Gap gapFromOldest(StreamRef stream, @Nullable Position last) {
    return oldest(stream).map(ReadResult.Gap::new).orElseGet(() -> new ReadResult.Gap(null, last));
  }

  private Optional<Position> oldest(StreamRef stream) {
    return StreamEntries.first(client.send(oldestEntry(stream)));
  }

  private Request oldestEntry(StreamRef stream) {
    return entries(Command.XRANGE, stream, "-", "+", 1);
  }

  /** Returns the position before the oldest event, or the last position of an open stream. */
  Optional<Position> beforeOldest(StreamRef stream) {
    List<@Nullable Response> found =
        client.sendAll(List.of(StreamField.LAST.get(keys, stream), oldestEntry(stream)));
    Response last = found.get(0);
    return StreamEntries.first(found.get(1))
        .map(oldest -> new Position(oldest.millis(), oldest.number() - 1))
        .or(() -> last == null ? Optional.empty() : Position.parse(last.toString()));
  }

  private Request entries(Command range, StreamRef stream, String from, String to, int most) {
    return Request.cmd(range)
        .arg(keys.stream(stream.session(), stream.name()))
        .arg(from)
        .arg(to)
        .arg("COUNT")
        .arg(most);
  }
}
