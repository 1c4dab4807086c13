package dev.holdfast.relay;

import dev.holdfast.log.EventLog;

/**
 * What the sessions and streams of one replica share.
 *
 * @param log where events are kept
 * @param streams how streams are kept and followed
 * @param replay what a client that comes back is given
 * @param listener is told what happens
 * @param pumps what is written here
 * @param tails what is followed here
 * @param admission whether new requests and streams are let in
 */
public record Parts(
    EventLog log,
    StreamConfig streams,
    ReplayConfig replay,
    RelayListener listener,
    Pumps pumps,
    Tails tails,
    Admission admission) {

  /** Starts with nothing running. */
  public Parts(EventLog log, StreamConfig streams, ReplayConfig replay, RelayListener listener) {
    this(log, streams, replay, listener, new Pumps(), new Tails(), new Admission());
  }
}
