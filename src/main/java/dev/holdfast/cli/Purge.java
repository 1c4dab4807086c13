package dev.holdfast.cli;

import dev.holdfast.relay.Relay;
import dev.holdfast.relay.session.SessionEndReport;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Ends sessions, everywhere. */
final class Purge {

  private final CommandContext equipment;
  private final SessionStore sessions;
  private final Relay relay;
  private final Output output;

  Purge(CommandContext equipment, SessionStore sessions, Relay relay, Output output) {
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
      case Command.Scope.Expired _ -> said(relay.sweep(), purge.json());
      case Command.Scope.All _ -> said(all(), purge.json());
    };
  }

  private ExitCode one(SessionId id, boolean json) {
    Optional<Session> session = sessions.find(id);
    SessionEndReport ended = session.map(relay::end).orElse(SessionEndReport.NONE);
    ExitCode said = said(ended, json);
    return ended.sessions() == 1 ? said : ExitCode.PROBLEM;
  }

  private SessionEndReport all() {
    List<Session> found = new ArrayList<>();
    Listings.forEach(sessions, entry -> found.add(entry.session()));
    SessionEndReport ended = SessionEndReport.NONE;
    for (Session session : found) {
      ended = ended.plus(relay.end(session));
    }
    return ended.plus(relay.sweep());
  }

  private ExitCode said(SessionEndReport ended, boolean json) {
    long sessions = ended.sessions();
    if (json) {
      Map<String, Long> object = new LinkedHashMap<>();
      object.put("ended", sessions);
      object.put("untold", ended.upstreamsNotTold());
      output.json(object);
    } else {
      output.line(sessions + (sessions == 1 ? " session ended" : " sessions ended"));
    }
    if (ended.upstreamsNotTold() == 0) {
      return ExitCode.FINE;
    }
    output.remark(
        "The upstreams of "
            + ended.upstreamsNotTold()
            + " of them did not hear of it, since they are not configured here. Give this command"
            + " the configuration of the gateway.");
    return ExitCode.PROBLEM;
  }
}
