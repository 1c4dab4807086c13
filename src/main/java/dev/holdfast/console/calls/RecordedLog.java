package dev.holdfast.console.calls;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.stream.StreamNames;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The log, which records the calls of tools that pass it. Asks its store for nothing more. */
public record RecordedLog(EventLog log, CallRecords records) implements EventLog {

  @Override
  public StreamWriter open(
      StreamRef stream, String requests, String tool, @Nullable String sharedStream) {
    StreamWriter writer = log.open(stream, requests, tool, sharedStream);
    return tool.isEmpty()
        ? writer
        : new RecordedWriter(writer, records.begin(stream, requests, tool), records);
  }

  @Override
  public Watch watch(StreamRef stream, @Nullable Position cursor, Watcher watcher) {
    Watch watch = log.watch(stream, cursor, watcher);
    if (!StreamNames.answersRequests(stream)) {
      return watch;
    }
    CallRecord record = records.follow(stream);
    record.connected(cursor != null && cursor.number() > 0, records.now());
    records.changed();
    return new RecordedWatch(watch, record, records);
  }

  /** A connection to a client. */
  private record RecordedWatch(Watch watch, CallRecord record, CallRecords records)
      implements Watch {

    @Override
    public String requests() {
      return watch.requests();
    }

    @Override
    public void advanced(Position cursor, long bytes) {
      watch.advanced(cursor, bytes);
    }

    @Override
    public void leave() {
      watch.leave();
    }

    @Override
    public void close() {
      watch.close();
      record.left(records.now());
      records.changed();
    }
  }

  @Override
  public void markFullyDelivered(StreamRef stream, boolean keep) {
    log.markFullyDelivered(stream, keep);
    CallRecord record = records.find(stream);
    if (record != null) {
      record.delivered(records.now());
      records.changed();
    }
  }

  @Override
  public StreamWriter openUnfollowed(StreamRef stream, @Nullable String sharedStream) {
    return log.openUnfollowed(stream, sharedStream);
  }

  @Override
  public void begin(LogKey key, String client) {
    log.begin(key, client);
  }

  @Override
  public void end(LogKey key) {
    log.end(key);
  }

  @Override
  public void openShared(StreamRef stream) {
    log.openShared(stream);
  }

  @Override
  public ReadResult read(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    return log.read(stream, after, maxEvents, maxBytes);
  }

  @Override
  public ReadResult readStored(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    return log.readStored(stream, after, maxEvents, maxBytes);
  }

  @Override
  public Optional<Position> newest(StreamRef stream) {
    return log.newest(stream);
  }

  @Override
  public Supplier<ReadResult> readAhead(
      StreamRef stream, Position after, int maxEvents, long maxBytes) {
    return log.readAhead(stream, after, maxEvents, maxBytes);
  }

  @Override
  public Optional<Position> beforeOldest(StreamRef stream) {
    return log.beforeOldest(stream);
  }

  @Override
  public Watch watchShared(StreamRef stream, Watcher watcher) {
    return log.watchShared(stream, watcher);
  }

  @Override
  public boolean isWrittenHere(StreamRef stream) {
    return log.isWrittenHere(stream);
  }

  @Override
  public void markDelivered(StreamRef stream, Position position) {
    log.markDelivered(stream, position);
  }

  @Override
  public Position deliveredUpTo(StreamRef stream) {
    return log.deliveredUpTo(stream);
  }

  @Override
  public void sweep() {
    log.sweep();
  }

  @Override
  public void check() {
    log.check();
  }

  @Override
  public Size depth() {
    return log.depth();
  }

  @Override
  public void close() {
    log.close();
  }
}
