package dev.holdfast.cli;

import dev.holdfast.relay.Relay;
import dev.holdfast.relay.session.SessionEndReport;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import java.util.ArrayList;
import java.util.List;

/** Runs {@code holdfast purge}: ends sessions in the store and at their upstreams. */
final class PurgeCommand {

  private final SessionStore sessions;
  private final Relay relay;
  private final Output output;

  PurgeCommand(SessionStore sessions, Relay relay, Output output) {
    this.sessions = sessions;
    this.relay = relay;
    this.output = output;
  }

  ExitCode run(Command.Scope scope) {
    return switch (scope) {
      case Command.Scope.One(SessionId id) -> {
        SessionEndReport report = sessions.find(id).map(relay::end).orElse(SessionEndReport.NONE);
        ExitCode code = print(report);
        yield report.sessions() == 1 ? code : ExitCode.PROBLEM;
      }
      case Command.Scope.Expired _ -> print(relay.sweep());
      case Command.Scope.All _ -> print(endAll());
    };
  }

  private SessionEndReport endAll() {
    List<Session> found = new ArrayList<>();
    SessionsCommand.forEach(sessions, entry -> found.add(entry.session()));
    return found.stream()
        .map(relay::end)
        .reduce(SessionEndReport.NONE, SessionEndReport::plus)
        .plus(relay.sweep());
  }

  private ExitCode print(SessionEndReport report) {
    long ended = report.sessions();
    long untold = report.upstreamsNotTold();
    output.result(
        Output.object().put("ended", ended).put("untold", untold),
        ended + (ended == 1 ? " session ended" : " sessions ended"));
    if (untold == 0) {
      return ExitCode.SUCCESS;
    }
    output.note(
        "The upstreams of "
            + untold
            + " of them were not told, because this command does not know them."
            + " Run it with the configuration of the gateway.");
    return ExitCode.PROBLEM;
  }
}
