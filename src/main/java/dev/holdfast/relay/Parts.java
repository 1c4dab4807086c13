package dev.holdfast.relay;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.ownership.Inbox;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.routing.PinnedSessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.tail.Tails;
import java.time.Duration;

/**
 * What the sessions and streams of one replica share.
 *
 * @param log where events are kept
 * @param inbox what is sent to streams that others own
 * @param streams how streams are kept and followed
 * @param replay what a client that comes back is given
 * @param hold how long events wait for a store that is away
 * @param listener is told what happens
 * @param pumps what is written here
 * @param tails what is followed here
 * @param homes the sessions that live here
 * @param admission whether new requests and streams are let in
 */
public record Parts(
    EventLog log,
    Inbox inbox,
    StreamConfig streams,
    ReplayConfig replay,
    Duration hold,
    RelayListener listener,
    Pumps pumps,
    Tails tails,
    PinnedSessions homes,
    Admission admission) {

  /** Starts with nothing running. */
  public Parts(
      EventLog log,
      Inbox inbox,
      StreamConfig streams,
      ReplayConfig replay,
      Duration hold,
      RelayListener listener) {
    this(log, inbox, streams, replay, hold, listener, new Pumps(hold, listener));
  }

  private Parts(
      EventLog log,
      Inbox inbox,
      StreamConfig streams,
      ReplayConfig replay,
      Duration hold,
      RelayListener listener,
      Pumps pumps) {
    this(
        log,
        inbox,
        streams,
        replay,
        hold,
        listener,
        pumps,
        new Tails(),
        new PinnedSessions(inbox, pumps, listener),
        new Admission());
  }
}
