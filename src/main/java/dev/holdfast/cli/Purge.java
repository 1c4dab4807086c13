package dev.holdfast.cli;

import dev.holdfast.relay.Relay;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Ends sessions, everywhere. */
final class Purge {

  private final Equipment equipment;
  private final SessionStore sessions;
  private final Relay relay;
  private final Output output;

  Purge(Equipment equipment, SessionStore sessions, Relay relay, Output output) {
    this.equipment = equipment;
    this.sessions = sessions;
    this.relay = relay;
    this.output = output;
  }

  ExitCode run(Command.Purge purge) {
    if (!Listings.isShared(equipment, output)) {
      return ExitCode.PROBLEM;
    }
    return switch (purge.scope()) {
      case Command.Scope.One(SessionId id) -> one(id, purge.json());
      case Command.Scope.Expired _ -> expired(purge.json());
      case Command.Scope.All _ -> all(purge.json());
    };
  }

  private ExitCode one(SessionId id, boolean json) {
    Optional<Session> session = sessions.find(id);
    session.ifPresent(relay::end);
    said(session.isPresent() ? 1 : 0, json);
    return session.isPresent() ? ExitCode.FINE : ExitCode.PROBLEM;
  }

  private ExitCode expired(boolean json) {
    long before = sessions.count();
    relay.sweep();
    said(Math.max(0, before - sessions.count()), json);
    return ExitCode.FINE;
  }

  private ExitCode all(boolean json) {
    List<Session> found = new ArrayList<>();
    Listings.forEach(sessions, entry -> found.add(entry.session()));
    found.forEach(relay::end);
    relay.sweep();
    said(found.size(), json);
    return ExitCode.FINE;
  }

  private void said(long ended, boolean json) {
    if (json) {
      output.json(Map.of("ended", ended));
    } else {
      output.line(ended + (ended == 1 ? " session ended" : " sessions ended"));
    }
  }
}
