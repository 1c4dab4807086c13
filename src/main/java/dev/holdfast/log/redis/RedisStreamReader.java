package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;
import static dev.holdfast.redis.RedisClient.number;
import static java.util.Objects.requireNonNull;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.script.StreamEntries;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.OwnedStream;
import dev.holdfast.log.redis.write.OwnedStreams;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads a stream from a cursor: the recent events of a stream that this replica writes, else Redis.
 * Detects gaps between the cursor and the next event.
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

  /** Replies at a time that may be larger than a page. */
  private static final int MAX_LARGE_REPLIES = 4;

  /** A stream that was not reported yet is fetched whole, up to so many bytes. */
  private static final long MAX_WHOLE_STREAM = 512 * 1024;

  private final RedisClient client;
  private final RedisKeys keys;
  private final RedisScript measureStream;
  private final OwnedStreams owned;
  private final WatcherRegistry watchers;
  private final Semaphore largeReplies = new Semaphore(MAX_LARGE_REPLIES);

  RedisStreamReader(
      RedisClient client, RedisKeys keys, OwnedStreams owned, WatcherRegistry watchers) {
    this.owned = owned;
    this.watchers = watchers;
    this.client = client;
    this.keys = keys;
    this.measureStream = StreamScripts.load(client, "measure-stream.lua");
  }

  /**
   * The part of a stream in Redis after a cursor.
   *
   * @param lastOfOpen the position of the last event, if the stream is open
   */
  private record Page(
      @Nullable Position lastOfOpen, boolean sessionExists, List<LogEvent> events) {}

  /**
   * Bounds on the part of a stream that is fetched.
   *
   * @param large whether the reply may be larger than a page
   */
  private record Amount(int events, boolean large) {}

  /** Reads as {@link dev.holdfast.log.EventLog#read} promises. */
  ReadResult read(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    OwnedStream own = owned.find(stream);
    // Recent events are for the local tail. Other readers need the stored events.
    if (own == null || !watchers.isWatched(stream)) {
      return readStored(stream, after, maxEvents, maxBytes);
    }
    Optional<ReadResult> recent = own.recent().read(after, maxEvents, maxBytes);
    if (recent.isPresent()) {
      return recent.get();
    }
    return own.recent().isAtEnd(after)
        ? readAtEnd(own, stream, after, maxEvents, maxBytes)
        : readStored(stream, after, maxEvents, maxBytes);
  }

  /** Reads as {@link dev.holdfast.log.EventLog#readStored} promises. */
  ReadResult readStored(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    return available("read a stream", () -> readStored(stream, after, maxEvents, maxBytes, false));
  }

  /** Reads for the local tail when it has all events that were written here. */
  private ReadResult readAtEnd(
      OwnedStream own, StreamRef stream, Position after, int maxEvents, long maxBytes) {
    ReadResult found;
    try {
      found = readStored(stream, after, maxEvents, maxBytes);
    } catch (LogException.StoreUnavailable unavailable) {
      // The next event that is written here wakes the tail, even if the store refuses it.
      return new ReadResult.Events(List.of());
    }
    if (!(found instanceof ReadResult.Gap)) {
      return found;
    }
    // Redis has lost events that this tail has. After the writer reports the end of the stream
    // again, this tail finds no gap.
    try {
      own.writer().restate();
    } catch (LogException.Fenced replaced) {
      // The new owner decides where the stream ends.
    } catch (LogException.OutcomeUnknown unknown) {
      throw new LogException.StoreUnavailable("could not restate a stream", unknown);
    }
    return readStored(stream, after, maxEvents, maxBytes);
  }

  private ReadResult readStored(
      StreamRef stream, Position after, int maxEvents, long maxBytes, boolean again) {
    Page page = requireNonNull(fetch(stream, after, maxEvents, maxBytes, true));
    return proven(stream, result(page, stream, after, maxEvents, maxBytes, again));
  }

  /**
   * Says that events or streams are missing only if the server takes writes: a primary that was
   * voted out does not know what the new one has.
   */
  private ReadResult proven(StreamRef stream, ReadResult result) {
    if (result instanceof ReadResult.NoSuchStream || result instanceof ReadResult.Gap) {
      Response _ = client.send(RedisClient.noOpWrite(keys.check(stream.key().value())));
    }
    return result;
  }

  /**
   * Begins a read as {@link dev.holdfast.log.EventLog#readAhead} promises, on a thread of its own.
   * Repeats it if that fails, or if an event may be larger than a page.
   */
  Supplier<ReadResult> readAhead(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    if (owned.find(stream) != null) {
      return () -> read(stream, after, maxEvents, maxBytes);
    }
    CompletableFuture<@Nullable Page> ahead = new CompletableFuture<>();
    Thread.ofVirtual()
        .name("read-ahead")
        .start(() -> {
          try {
            ahead.complete(fetch(stream, after, maxEvents, maxBytes, false));
          } catch (Throwable failed) {
            ahead.complete(null);
          }
        });
    return () -> {
      Page page = ahead.join();
      return page == null
          ? readStored(stream, after, maxEvents, maxBytes)
          : available(
              "read a stream",
              () -> proven(stream, result(page, stream, after, maxEvents, maxBytes, false)));
    };
  }

  private ReadResult result(
      Page page, StreamRef stream, Position after, int maxEvents, long maxBytes, boolean again) {
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
          : readStored(stream, after, maxEvents, maxBytes, true);
    }
    LogEvent first = page.events().getFirst();
    if (first.position().equals(after)) {
      return afterCursor(first, page, maxBytes);
    }
    long ahead = first.position().number() - after.number();
    if (ahead > 1) {
      return new ReadResult.Gap(first.position());
    }
    return ahead < 1 || isNumberReused(stream, after)
        ? gapFromOldest(stream, page.lastOfOpen())
        : new ReadResult.Events(StreamEntries.page(page.events(), maxBytes));
  }

  /**
   * Reads the fields before the entries. In the other order, an append in between would look like a
   * loss. Reads the existence of the session last. If the session ends in between, its stream is
   * unknown and has no gap.
   *
   * <p>The size of the largest event bounds the reply with the entries. A stream has none until it
   * is reported; the memory of the whole stream bounds the reply then.
   *
   * @param any whether to fetch one event that may be larger than the page; otherwise returns null
   */
  private @Nullable Page fetch(
      StreamRef stream, Position after, int maxEvents, long maxBytes, boolean any) {
    List<@Nullable Response> fields = client.sendAll(List.of(state(stream), largest(stream)));
    Position lastOfOpen = lastOfOpen(fields.get(0));
    if (after.equals(lastOfOpen)) {
      return new Page(lastOfOpen, true, List.of());
    }
    Amount amount = amount(stream, fields.get(1), Math.min(maxEvents, MAX_PAGE), maxBytes);
    if (amount.large() && amount.events() == 1 && !any) {
      return null;
    }
    if (amount.large()) {
      largeReplies.acquireUninterruptibly();
    }
    try {
      List<@Nullable Response> replies =
          client.sendAll(List.of(after(stream, after, amount.events()), exists(stream)));
      return page(after, lastOfOpen, amount.events(), replies.get(0), replies.get(1));
    } finally {
      if (amount.large()) {
        largeReplies.release();
      }
    }
  }

  private Amount amount(
      StreamRef stream, @Nullable Response largest, int maxEvents, long maxBytes) {
    if (largest != null) {
      long bytes = bytes(largest);
      return new Amount(Math.clamp(maxBytes / bytes, 1, maxEvents), bytes > maxBytes);
    }
    long memory =
        bytes(measureStream.run(keys.sessionAndStream(stream.key().value(), stream.name())));
    boolean whole = memory <= Math.max(maxBytes, MAX_WHOLE_STREAM);
    return new Amount(whole ? maxEvents : 1, memory > maxBytes);
  }

  private static Page page(
      Position after,
      @Nullable Position lastOfOpen,
      int fitting,
      @Nullable Response entries,
      @Nullable Response exists) {
    List<LogEvent> found = StreamEntries.of(entries);
    boolean hasOwn = !found.isEmpty() && found.getFirst().position().equals(after);
    return new Page(
        lastOfOpen,
        String.valueOf(exists).equals("1"),
        hasOwn ? found : found.subList(0, Math.min(fitting, found.size())));
  }

  private Request state(StreamRef stream) {
    return Request.cmd(
        Command.HMGET,
        keys.session(stream.key().value()),
        StreamField.OWNER.of(stream),
        StreamField.LAST.of(stream));
  }

  private Request largest(StreamRef stream) {
    return Request.cmd(Command.HGET, keys.sizes(stream.key().value()), LARGEST + stream.name());
  }

  private Request after(StreamRef stream, Position after, int fitting) {
    int count = after.number() == 0 ? fitting : fitting + 1;
    return entries(Command.XRANGE, stream, after.toString(), "+", count);
  }

  private Request exists(StreamRef stream) {
    return Request.cmd(Command.EXISTS, keys.session(stream.key().value()));
  }

  private static @Nullable Position lastOfOpen(@Nullable Response fields) {
    if (fields == null || fields.get(0) == null) {
      return null;
    }
    Response last = fields.get(1);
    return last == null ? Position.START : Position.parse(last.toString()).orElse(Position.START);
  }

  private static long bytes(@Nullable Response reply) {
    return Math.max(1, number(reply));
  }

  /**
   * Returns true if a quota has removed a whole stream of the session. It may be the stream in
   * question.
   */
  private boolean hasLostStreams(StreamRef stream) {
    return client.send(Request.cmd(Command.HGET, keys.session(stream.key().value()), LOST)) != null;
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
   * Returns true if another event with an earlier time has the cursor's number. That happens when
   * the store loses the cursor's event and its clock goes back. Runs only when the cursor's event
   * is missing, which is rare.
   */
  private boolean isNumberReused(StreamRef stream, Position after) {
    return after.number() > 0
        && StreamEntries.first(
                client.send(entries(Command.XREVRANGE, stream, after.toString(), "-", 1)))
            .filter(before -> before.number() >= after.number())
            .isPresent();
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

  /** Finds a position as {@link dev.holdfast.log.EventLog#beforeOldest} promises. */
  Optional<Position> beforeOldest(StreamRef stream) {
    List<Request> requests = List.of(StreamField.LAST.get(keys, stream), oldestEntry(stream));
    List<@Nullable Response> found = available("read a stream", () -> client.sendAll(requests));
    Response last = found.get(0);
    return StreamEntries.first(found.get(1))
        .map(oldest -> new Position(oldest.millis(), oldest.number() - 1))
        .or(() -> last == null ? Optional.empty() : Position.parse(last.toString()));
  }

  /** Finds a position as {@link dev.holdfast.log.EventLog#newest} promises. */
  Optional<Position> newest(StreamRef stream) {
    Response last =
        available("read a stream", () -> client.send(StreamField.LAST.get(keys, stream)));
    return last == null ? newestUntil(stream, "+") : Position.parse(last.toString());
  }

  /**
   * The position of the newest kept event up to a time.
   *
   * @param end in milliseconds since the epoch; {@code +} for any
   */
  Optional<Position> newestUntil(StreamRef stream, String end) {
    Request newest = entries(Command.XREVRANGE, stream, end, "-", 1);
    return StreamEntries.first(available("read a stream", () -> client.send(newest)));
  }

  private Request entries(Command range, StreamRef stream, String from, String to, int most) {
    String key = keys.stream(stream.key().value(), stream.name());
    return Request.cmd(range, key, from, to, "COUNT", most);
  }
}
