package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.RedisEventLog.available;

import dev.holdfast.log.FencedException;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.OutcomeUnknownException;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.WatcherRegistry;
import java.util.List;
import java.util.Optional;

/** Reads from the memory of a stream that is written here, or from Redis. */
final class Reads {

  private static final ReadResult NOTHING_NEW = new ReadResult.Events(List.<LogEvent>of());

  private final RedisStreamReader reader;
  private final OwnedStreams owned;
  private final WatcherRegistry watchers;

  Reads(RedisStreamReader reader, OwnedStreams owned, WatcherRegistry watchers) {
    this.reader = reader;
    this.owned = owned;
    this.watchers = watchers;
  }

  ReadResult read(StreamRef stream, Position after, int maxEvents) {
    OwnedStream own = owned.find(stream);
    // The head is for the local tail; who has no seat here wants to know what the store has.
    if (own == null || !watchers.isWatched(stream)) {
      return stored(stream, after, maxEvents);
    }
    Optional<ReadResult> fromHead = own.head().read(after, maxEvents);
    if (fromHead.isPresent()) {
      return fromHead.get();
    }
    return own.head().isAtEnd(after)
        ? atEnd(own, stream, after, maxEvents)
        : stored(stream, after, maxEvents);
  }

  Optional<Position> beforeOldest(StreamRef stream) {
    return available("read a stream", () -> reader.beforeOldest(stream));
  }

  private ReadResult stored(StreamRef stream, Position after, int maxEvents) {
    return available("read a stream", () -> reader.read(stream, after, maxEvents));
  }

  /** For a reader who has all that was written here. */
  private ReadResult atEnd(OwnedStream own, StreamRef stream, Position after, int maxEvents) {
    ReadResult found;
    try {
      found = stored(stream, after, maxEvents);
    } catch (StoreUnavailableException away) {
      // What is written here next will wake it, whether or not the store takes it.
      return NOTHING_NEW;
    }
    if (!(found instanceof ReadResult.Gap)) {
      return found;
    }
    // Redis has lost writes; but this reader has them. Once Redis is told where the stream stands,
    // there is no gap for it.
    restate(own.writer());
    return stored(stream, after, maxEvents);
  }

  private static void restate(RedisStreamWriter writer) {
    writer.doubt();
    try {
      writer.recordSkipped();
    } catch (FencedException replaced) {
      // Then it is the new owner's log that counts.
    } catch (OutcomeUnknownException unknown) {
      throw new StoreUnavailableException("could not restate a stream", unknown);
    }
  }
}
