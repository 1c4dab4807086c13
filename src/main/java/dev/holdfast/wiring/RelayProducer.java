package dev.holdfast.wiring;

import dev.holdfast.log.EventLog;
import dev.holdfast.relay.Parts;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.RelayListener;
import dev.holdfast.relay.ReplayConfig;
import dev.holdfast.relay.Sessions;
import dev.holdfast.relay.StreamConfig;
import dev.holdfast.session.SessionConfig;
import dev.holdfast.session.SessionStore;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.InstantSource;

/** Puts the relay together. */
@Singleton
final class RelayProducer {

  @Produces
  @Singleton
  Parts parts(EventLog log, StreamConfig streams, ReplayConfig replay, RelayListener listener) {
    return new Parts(log, streams, replay, listener);
  }

  @Produces
  @Singleton
  Sessions sessions(
      SessionStore store,
      Upstreams upstreams,
      Parts parts,
      SessionConfig config,
      InstantSource clock) {
    return new Sessions(store, upstreams.byName(), parts, config.idleTimeout(), clock);
  }

  @Produces
  @Singleton
  Relay relay(Sessions sessions, Parts parts, InstantSource clock) {
    return new Relay(sessions, parts, clock);
  }
}
