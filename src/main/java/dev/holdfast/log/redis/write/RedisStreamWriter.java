package dev.holdfast.log.redis.write;

import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import java.util.List;

/** Writes one stream: appends to the log and, during a long outage, delivers without it. */
public final class RedisStreamWriter implements StreamWriter {

  private final StreamRef stream;
  private final StreamRef keptIn;
  private final StreamStore store;
  private final GroupCommit commit;
  private final UnloggedDelivery unloggedDelivery;

  /**
   * @param keptIn the stream that keeps the events, which may be the stream itself
   * @param last the position of the stream's last event
   */
  RedisStreamWriter(StreamRef stream, StreamRef keptIn, StreamStore store, Position last) {
    this.stream = stream;
    this.keptIn = keptIn;
    this.store = store;
    this.commit = new GroupCommit(stream, store, last);
    this.unloggedDelivery = new UnloggedDelivery(commit, store);
  }

  @Override
  public StreamRef stream() {
    return stream;
  }

  @Override
  public StreamRef keptIn() {
    return keptIn;
  }

  @Override
  public Position append(List<NewEvent> events) {
    NewEvent.requireWellFormed(events);
    return commit.append(events);
  }

  @Override
  public boolean deliverUnlogged(List<NewEvent> events) {
    NewEvent.requireWellFormed(events);
    return unloggedDelivery.deliver(events);
  }

  @Override
  public void recordSkipped() {
    unloggedDelivery.recordSkipped();
  }

  /** Reports the end of the stream again, after the store has shown an older one. */
  public void restate() {
    unloggedDelivery.doubt();
    unloggedDelivery.recordSkipped();
  }

  @Override
  public void recordUpstreamCursor(String upstreamId) {
    store.recordUpstreamCursor(commit.lastNumber(), upstreamId);
  }

  void fence() {
    commit.fence();
  }
}
