package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;

import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.write.OwnedStream;
import dev.holdfast.log.redis.write.OwnedStreams;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Reads the recent events of a stream that this replica writes, or else asks Redis. */
record LogReader(RedisStreamReader reader, OwnedStreams owned, WatcherRegistry watchers) {

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

  /** Reads as {@link dev.holdfast.log.EventLog#readAhead} promises. */
  Supplier<ReadResult> readAhead(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    if (owned.find(stream) != null) {
      return () -> read(stream, after, maxEvents, maxBytes);
    }
    Supplier<ReadResult> stored = reader.readAhead(stream, after, maxEvents, maxBytes);
    return () -> available("read a stream", stored);
  }

  /** Finds a position as {@link dev.holdfast.log.EventLog#beforeOldest} promises. */
  Optional<Position> beforeOldest(StreamRef stream) {
    return available("read a stream", () -> reader.beforeOldest(stream));
  }

  private ReadResult readStored(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    return available("read a stream", () -> reader.read(stream, after, maxEvents, maxBytes));
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
}
