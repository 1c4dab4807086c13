package dev.holdfast.relay.tail;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.TraceListener;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * Parts that all tails of a replica share.
 *
 * @param config timeouts of connections
 * @param onGap what happens when events were purged
 * @param pages the bytes that tails may read ahead of their clients
 * @param clock tells how long an event was under way, and the age of a cursor
 * @param traces null while traces are off
 */
public record TailContext(
    EventLog log,
    StreamConfig config,
    ReplayConfig.OnGap onGap,
    RelayListener listener,
    Tails tails,
    ByteBudget pages,
    InstantSource clock,
    @Nullable TraceListener traces) {

  /**
   * Notes that a client has the last event of a stream.
   *
   * @param keep as in {@link EventLog#markFullyDelivered}
   */
  void delivered(StreamRef stream, boolean keep) {
    log.markFullyDelivered(stream, keep);
    listener.calls().delivered(stream);
  }
}
