package dev.holdfast.relay;

import dev.holdfast.log.EventLog;

/**
 * What the sessions and streams of one replica share.
 *
 * @param log where events are kept
 * @param streams how streams are kept and followed
 * @param replay what a client that comes back is given
 * @param listener is told what happens
 * @param pumps what runs here
 */
public record Parts(
    EventLog log, StreamConfig streams, ReplayConfig replay, RelayListener listener, Pumps pumps) {

  /** Starts with nothing running. */
  public Parts(EventLog log, StreamConfig streams, ReplayConfig replay, RelayListener listener) {
    this(log, streams, replay, listener, new Pumps());
  }
}
