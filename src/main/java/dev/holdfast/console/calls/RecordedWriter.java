package dev.holdfast.console.calls;

import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import java.util.List;
import java.util.function.Consumer;

/** Writes a stream, and records what was written. */
record RecordedWriter(StreamWriter writer, CallRecord record, CallRecords records)
    implements StreamWriter {

  private void appended(List<NewEvent> events) {
    record.appended(events, records.now());
    records.changed();
  }

  @Override
  public Position append(List<NewEvent> events) {
    Position position = writer.append(events);
    appended(events);
    return position;
  }

  @Override
  public boolean appendLater(List<NewEvent> events, Consumer<Boolean> then) {
    return writer.appendLater(
        events,
        inLog -> {
          if (inLog) {
            appended(events);
          }
          then.accept(inLog);
        });
  }

  @Override
  public boolean deliverUnlogged(List<NewEvent> events) {
    boolean delivered = writer.deliverUnlogged(events);
    if (delivered) {
      appended(events);
    }
    return delivered;
  }

  @Override
  public StreamRef stream() {
    return writer.stream();
  }

  @Override
  public StreamRef keptIn() {
    return writer.keptIn();
  }

  @Override
  public boolean isFollowed() {
    return writer.isFollowed();
  }

  @Override
  public boolean hasRoom(List<NewEvent> events) {
    return writer.hasRoom(events);
  }

  @Override
  public void awaitRoom(List<NewEvent> events) throws InterruptedException {
    writer.awaitRoom(events);
  }

  @Override
  public void stopWaiting() {
    writer.stopWaiting();
  }

  @Override
  public void recordSkipped() {
    writer.recordSkipped();
  }

  @Override
  public void recordUpstreamCursor(String upstreamId) {
    writer.recordUpstreamCursor(upstreamId);
  }
}
