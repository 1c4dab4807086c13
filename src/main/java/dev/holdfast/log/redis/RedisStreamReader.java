package dev.holdfast.log.redis;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads from a cursor, and tells whether anything between it and the next event is missing.
 *
 * <p>The page is read from the cursor's own event on: if that comes back first, nothing was lost.
 * If it is purged, what comes first must have the next number.
 */
final class RedisStreamReader {

  /** Keeps a page's reply, and the room that is made for it, within reason. */
  private static final int MAX_PAGE = 10_000;

  private final RedisClient link;
  private final RedisKeys keys;

  RedisStreamReader(RedisClient link, RedisKeys keys) {
    this.link = link;
    this.keys = keys;
  }

  /** What one round trip finds. */
  private record Found(
      @Nullable Position lastOfOpen, boolean sessionExists, List<LogEvent> events) {

    /** From the replies to the commands of {@link #fetch}. */
    static Found of(List<@Nullable Response> replies) {
      Response state = replies.get(0);
      Response entries = replies.get(1);
      Response exists = replies.get(2);
      return new Found(
          lastOfOpen(state),
          exists != null && exists.toString().equals("1"),
          StreamEntries.of(entries));
    }

    private static @Nullable Position lastOfOpen(@Nullable Response state) {
      if (state == null || state.get(0) == null) {
        return null;
      }
      Response last = state.get(1);
      return last == null ? Position.START : Position.parse(last.toString()).orElse(Position.START);
    }
  }

  ReadResult read(StreamRef stream, Position after, int maxEvents) {
    return read(stream, after, maxEvents, false);
  }

  private ReadResult read(StreamRef stream, Position after, int maxEvents, boolean again) {
    Found found = fetch(stream, after, Math.min(maxEvents, MAX_PAGE));
    if (!found.sessionExists()) {
      return new ReadResult.NoSuchStream();
    }
    if (found.events().isEmpty()) {
      if (found.lastOfOpen() != null) {
        return atHead(stream, after, found.lastOfOpen());
      }
      Optional<Position> oldest = oldest(stream);
      if (oldest.isEmpty()) {
        return new ReadResult.NoSuchStream();
      }
      // Nothing of it was there a moment ago: it may have been opened only just now.
      return again ? new ReadResult.Gap(oldest.get()) : read(stream, after, maxEvents, true);
    }
    LogEvent first = found.events().getFirst();
    if (first.position().equals(after)) {
      return behind(first, found);
    }
    long ahead = first.position().number() - after.number();
    if (ahead > 1) {
      return new ReadResult.Gap(first.position());
    }
    return ahead < 1 || isStrange(stream, after)
        ? fromStart(stream, found.lastOfOpen())
        : events(found.events(), maxEvents);
  }

  /**
   * The owner's record comes first: an append in between then shows more events than the record
   * tells, never fewer, which would look like a loss. The session's existence comes last: a session
   * that ends in between is unknown, and its stream is not missing events.
   */
  private Found fetch(StreamRef stream, Position after, int maxEvents) {
    String session = keys.session(stream.session());
    String name = stream.name();
    return Found.of(
        link.sendAll(
            List.of(
                Request.cmd(Command.HMGET).arg(session).arg("o:" + name).arg("l:" + name),
                Request.cmd(Command.XRANGE)
                    .arg(key(stream))
                    .arg(after.toString())
                    .arg("+")
                    .arg("COUNT")
                    .arg(maxEvents + 1),
                Request.cmd(Command.EXISTS).arg(session))));
  }

  /** An open stream with nothing at the cursor or after it. */
  private ReadResult atHead(StreamRef stream, Position after, Position last) {
    if (after.equals(last) || (after.number() == 0 && last.number() == 0)) {
      return new ReadResult.Events(List.of());
    }
    return after.number() < last.number()
        ? new ReadResult.Gap(null, last)
        : fromStart(stream, last);
  }

  /** The cursor's own event is there. */
  private static ReadResult behind(LogEvent own, Found found) {
    List<LogEvent> rest = found.events().subList(1, found.events().size());
    if (!rest.isEmpty()) {
      Position next = rest.getFirst().position();
      boolean follows = next.number() == own.position().number() + 1;
      return follows
          ? new ReadResult.Events(StreamEntries.withoutHoles(rest))
          : new ReadResult.Gap(next);
    }
    if (own.last()) {
      return new ReadResult.EndOfStream();
    }
    Position last = found.lastOfOpen();
    boolean atHead = last != null && last.number() <= own.position().number();
    return atHead ? new ReadResult.Events(List.of()) : new ReadResult.Gap(null, last);
  }

  private static ReadResult events(List<LogEvent> found, int maxEvents) {
    List<LogEvent> whole = StreamEntries.withoutHoles(found);
    return new ReadResult.Events(whole.subList(0, Math.min(maxEvents, whole.size())));
  }

  /**
   * Whether the cursor's number was given to another event, written earlier by a clock that went
   * back when the store lost the cursor's own. Asked only when the event at the cursor is not
   * there, which is rare.
   */
  private boolean isStrange(StreamRef stream, Position after) {
    if (after.number() == 0) {
      return false;
    }
    List<LogEvent> before =
        StreamEntries.of(
            link.send(
                Request.cmd(Command.XREVRANGE)
                    .arg(key(stream))
                    .arg(after.toString())
                    .arg("-")
                    .arg("COUNT")
                    .arg(1)));
    return !before.isEmpty() && before.getFirst().position().number() >= after.number();
  }

  /** For a cursor that is not of this log. */
  private ReadResult.Gap fromStart(StreamRef stream, @Nullable Position head) {
    return oldest(stream).map(ReadResult.Gap::new).orElseGet(() -> new ReadResult.Gap(null, head));
  }

  /** The oldest event that is kept. */
  private Optional<Position> oldest(StreamRef stream) {
    return oldest(link.send(first(stream)));
  }

  private static Optional<Position> oldest(@Nullable Response entries) {
    return StreamEntries.of(entries).stream().findFirst().map(LogEvent::position);
  }

  private Request first(StreamRef stream) {
    return Request.cmd(Command.XRANGE).arg(key(stream)).arg("-").arg("+").arg("COUNT").arg(1);
  }

  /** The position before the oldest event that is kept, or the head of an open stream. */
  Optional<Position> beforeOldest(StreamRef stream) {
    Request head =
        Request.cmd(Command.HGET).arg(keys.session(stream.session())).arg("l:" + stream.name());
    List<@Nullable Response> found = link.sendAll(List.of(head, first(stream)));
    Response last = found.get(0);
    return oldest(found.get(1))
        .map(oldest -> new Position(oldest.millis(), oldest.number() - 1))
        .or(() -> last == null ? Optional.empty() : Position.parse(last.toString()));
  }

  private String key(StreamRef stream) {
    return keys.stream(stream.session(), stream.name());
  }
}
