package dev.holdfast.log.redis;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.script.StreamEntries;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
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

  /** The field of the session hash that exists once a quota has removed a stream. */
  private static final String LOST = "lost";

  /** Replies at a time with events that are larger than a page. */
  private static final int MAX_LARGE_REPLIES = 4;

  private final RedisClient client;
  private final RedisKeys keys;
  private final RedisScript readPage;
  private final Semaphore largeReplies = new Semaphore(MAX_LARGE_REPLIES);

  RedisStreamReader(RedisClient client, RedisKeys keys) {
    this.client = client;
    this.keys = keys;
    this.readPage = StreamScripts.load(client, "read-page.lua");
  }

  /** What a reader asks for. */
  private record Query(StreamRef stream, Position after, int maxEvents, long maxBytes) {}

  /**
   * What Redis has of a stream after a cursor.
   *
   * @param lastOfOpen the position of the last event, if the stream is open
   */
  private record Page(
      boolean sessionExists, @Nullable Position lastOfOpen, List<LogEvent> events) {}

  ReadResult read(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    Query query = new Query(stream, after, Math.min(maxEvents, MAX_PAGE), maxBytes);
    return result(query, fetch(query), false);
  }

  private ReadResult result(Query query, Page page, boolean again) {
    StreamRef stream = query.stream();
    Position after = query.after();
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
      return again ? new ReadResult.Gap(oldest.get()) : result(query, fetch(query), true);
    }
    LogEvent first = page.events().getFirst();
    if (first.position().equals(after)) {
      return afterCursor(first, page, query.maxBytes());
    }
    long ahead = first.position().number() - after.number();
    if (ahead > 1) {
      return new ReadResult.Gap(first.position());
    }
    return ahead < 1 || isNumberReused(stream, after)
        ? gapFromOldest(stream, page.lastOfOpen())
        : new ReadResult.Events(StreamEntries.page(page.events(), query.maxBytes()));
  }

  private Page fetch(Query query) {
    return page(query, readPage.run(keys(query), arguments(query, "")));
  }

  private List<String> keys(Query query) {
    StreamRef stream = query.stream();
    return List.of(keys.session(stream.session()), keys.stream(stream.session(), stream.name()));
  }

  private static Object[] arguments(Query query, String large) {
    return new Object[] {
      query.stream().name(), query.after(), query.maxEvents(), query.maxBytes(), large
    };
  }

  /** Converts the reply of the script. Asks again if the next event may be larger than a page. */
  private Page page(Query query, @Nullable Response reply) {
    if (reply == null || reply.size() < 3) {
      return new Page(false, null, List.of());
    }
    Response last = reply.get(1);
    Response entries = reply.get(2);
    if (entries == null) {
      largeReplies.acquireUninterruptibly();
      try {
        return page(query, readPage.run(keys(query), arguments(query, "large")));
      } finally {
        largeReplies.release();
      }
    }
    List<LogEvent> found = StreamEntries.of(entries);
    boolean hasOwn = !found.isEmpty() && found.getFirst().position().equals(query.after());
    return new Page(
        true,
        last == null ? null : Position.parse(last.toString()).orElse(Position.START),
        hasOwn ? found : found.subList(0, Math.min(query.maxEvents(), found.size())));
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
  private static ReadResult afterCursor(LogEvent own, Page page, long maxBytes) {
    List<LogEvent> rest = page.events().subList(1, page.events().size());
    if (!rest.isEmpty()) {
      Position next = rest.getFirst().position();
      boolean follows = next.number() == own.position().number() + 1;
      return follows
          ? new ReadResult.Events(StreamEntries.page(rest, maxBytes))
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
