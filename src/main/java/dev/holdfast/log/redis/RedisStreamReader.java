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
import java.util.concurrent.Semaphore;
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

  /** Before the name of a stream: the field with the bytes of its largest event. */
  private static final String LARGEST = "w:";

  /** The field of the session hash that exists once a quota has removed a stream. */
  private static final String LOST = "lost";

  /** Replies at a time with events that are larger than a page. */
  private static final int MAX_LARGE_REPLIES = 4;

  private final RedisClient client;
  private final RedisKeys keys;
  private final Semaphore largeReplies = new Semaphore(MAX_LARGE_REPLIES);

  RedisStreamReader(RedisClient client, RedisKeys keys) {
    this.client = client;
    this.keys = keys;
  }

  /**
   * What Redis has of a stream after a cursor.
   *
   * @param lastOfOpen the position of the last event, if the stream is open
   */
  private record Page(
      @Nullable Position lastOfOpen, boolean sessionExists, List<LogEvent> events) {}

  ReadResult read(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    return read(stream, after, maxEvents, maxBytes, false);
  }

  private ReadResult read(
      StreamRef stream, Position after, int maxEvents, long maxBytes, boolean again) {
    Page page = fetch(stream, after, Math.min(maxEvents, MAX_PAGE), maxBytes);
    if (!page.sessionExists()) {
      return new ReadResult.NoSuchStream();
    }
    if (page.events().isEmpty()) {
      if (page.lastOfOpen() != null) {
        return atEndOfOpen(stream, after, page.lastOfOpen());
      }
      Optional<Position> oldest = oldest(stream);
      if (oldest.isEmpty()) {
        return hasLostStreams(stream) ? new ReadResult.Gap(null) : new ReadResult.NoSuchStream();
      }
      // The stream may have been opened after the page was fetched.
      return again
          ? new ReadResult.Gap(oldest.get())
          : read(stream, after, maxEvents, maxBytes, true);
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
        : new ReadResult.Events(StreamEntries.upToGap(page.events()));
  }

  /**
   * Reads the fields before the entries. In the other order, an append in between would look like a
   * loss. Reads the existence of the session last. If the session ends in between, its stream is
   * unknown and has no gap.
   *
   * <p>The fields tell the size of the largest event, so the reply with the entries is bounded.
   */
  private Page fetch(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    String session = keys.session(stream.session());
    List<@Nullable Response> fields =
        client.sendAll(
            List.of(
                Request.cmd(Command.HMGET)
                    .arg(session)
                    .arg(StreamField.OWNER.of(stream))
                    .arg(StreamField.LAST.of(stream)),
                Request.cmd(Command.HGET)
                    .arg(keys.sizes(stream.session()))
                    .arg(LARGEST + stream.name())));
    Position lastOfOpen = lastOfOpen(fields.get(0));
    if (after.equals(lastOfOpen)) {
      return new Page(lastOfOpen, true, List.of());
    }
    long largest = largest(fields.get(1));
    // Without a size, an older version began the stream.
    int fitting = largest == 0 ? 1 : Math.clamp(maxBytes / largest, 1, maxEvents);
    boolean large = largest > maxBytes;
    if (large) {
      largeReplies.acquireUninterruptibly();
    }
    try {
      return fetch(stream, after, lastOfOpen, fitting);
    } finally {
      if (large) {
        largeReplies.release();
      }
    }
  }

  private Page fetch(StreamRef stream, Position after, @Nullable Position lastOfOpen, int fitting) {
    int count = after.number() == 0 ? fitting : fitting + 1;
    List<@Nullable Response> replies =
        client.sendAll(
            List.of(
                entries(Command.XRANGE, stream, after.toString(), "+", count),
                Request.cmd(Command.EXISTS).arg(keys.session(stream.session()))));
    List<LogEvent> found = StreamEntries.of(replies.get(0));
    boolean hasOwn = !found.isEmpty() && found.getFirst().position().equals(after);
    return new Page(
        lastOfOpen,
        String.valueOf(replies.get(1)).equals("1"),
        hasOwn ? found : found.subList(0, Math.min(fitting, found.size())));
  }

  private static @Nullable Position lastOfOpen(@Nullable Response fields) {
    if (fields == null || fields.get(0) == null) {
      return null;
    }
    Response last = fields.get(1);
    return last == null ? Position.START : Position.parse(last.toString()).orElse(Position.START);
  }

  /** The bytes of the largest event; zero if they are unknown. */
  private static long largest(@Nullable Response field) {
    return field == null ? 0 : Math.max(1, Long.parseLong(field.toString()));
  }

  /**
   * Whether a quota has removed a whole stream of the session. It may be the stream in question.
   */
  private boolean hasLostStreams(StreamRef stream) {
    Request get = Request.cmd(Command.HGET).arg(keys.session(stream.session())).arg(LOST);
    return client.send(get) != null;
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
