package dev.holdfast.cli;

import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.session.SessionId;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Reads the command line. Starts nothing, so that help and mistakes are answered at once. */
final class CommandLineReader {

  private CommandLineReader() {}

  /** Reads the words behind the program's name. */
  static ParsedCommandLine read(String... words) {
    CommandLine root = new CommandLine(Syntax.program());
    try {
      ParseResult program = root.parseArgs(words);
      ParseResult asked = program.hasSubcommand() ? program.subcommand() : program;
      CommandLine line = asked.commandSpec().commandLine();
      if (asked.isUsageHelpRequested() || program.isUsageHelpRequested()) {
        return new ParsedCommandLine.Answered(ExitCode.FINE, line.getUsageMessage(Ansi.OFF));
      }
      if (asked.isVersionHelpRequested() || program.isVersionHelpRequested()) {
        return new ParsedCommandLine.Answered(ExitCode.FINE, "holdfast " + Syntax.version() + "\n");
      }
      if (program.hasSubcommand() && !program.matchedOptions().isEmpty()) {
        String option = program.matchedOptions().getFirst().longestName();
        throw wrong(program, option + " stands behind the command");
      }
      return new ParsedCommandLine.Wanted(command(asked));
    } catch (ParameterException mistake) {
      String usage = mistake.getCommandLine().getUsageMessage(Ansi.OFF);
      return new ParsedCommandLine.Answered(ExitCode.USAGE, mistake.getMessage() + "\n\n" + usage);
    }
  }

  private static Command command(ParseResult asked) {
    Map<String, String> settings = Settings.of(asked);
    boolean json = asked.matchedOptionValue(Syntax.JSON, false);
    return switch (asked.commandSpec().name()) {
      case Syntax.PROGRAM, Syntax.SERVE -> new Command.Serve(settings);
      case Syntax.STDIO -> new Command.Stdio(settings);
      case Syntax.DOCTOR -> new Command.Doctor(settings, json);
      case Syntax.SESSIONS -> new Command.Sessions(settings, json);
      case Syntax.STREAMS -> new Command.Streams(settings, session(asked), json);
      case Syntax.TAIL -> tail(asked, settings, json);
      case Syntax.PURGE -> new Command.Purge(settings, scope(asked), json);
      default -> throw wrong(asked, "no such command: " + asked.commandSpec().name());
    };
  }

  private static Command tail(ParseResult asked, Map<String, String> settings, boolean json) {
    SessionId session = session(asked);
    if (session == null) {
      throw wrong(asked, "SESSION is missing");
    }
    Optional<String> name = Optional.ofNullable(asked.matchedPositionalValue(1, null));
    if (name.isPresent() && !StreamRef.isName(name.get())) {
      throw wrong(asked, "STREAM: " + name.get() + " is not 1 to 32 letters and digits");
    }
    String from = asked.matchedOptionValue(Syntax.FROM, "");
    if (from.isEmpty()) {
      return new Command.Tail(settings, session, name.orElse(null), Position.START, json);
    }
    EventId id = eventId(asked, from, session);
    if (name.isPresent() && !id.stream().equals(name.get())) {
      throw wrong(asked, "--from is an event of " + id.stream() + " and not of " + name.get());
    }
    return new Command.Tail(settings, session, id.stream(), id.position(), json);
  }

  /** Takes an id of either transport. It is not quoted: one of them holds the session's. */
  private static EventId eventId(ParseResult asked, String text, SessionId session) {
    EventId id =
        EventId.parse(text)
            .or(() -> EventId.parseWithSession(text))
            .orElseThrow(() -> wrong(asked, "--from is not an event id, <stream>_<ms>-<n>"));
    if (id.session() != null && !id.session().equals(session)) {
      throw wrong(asked, "--from is an event of another session");
    }
    return id;
  }

  private static Command.Scope scope(ParseResult asked) {
    SessionId session = session(asked);
    boolean expired = asked.hasMatchedOption(Syntax.EXPIRED);
    boolean all = asked.hasMatchedOption(Syntax.ALL);
    int named = (session == null ? 0 : 1) + (expired ? 1 : 0) + (all ? 1 : 0);
    if (named != 1) {
      throw wrong(asked, "one of SESSION, --expired and --all is wanted");
    }
    if (all && !asked.hasMatchedOption(Syntax.YES)) {
      throw wrong(asked, "--all ends every session with all that it has; say --yes as well");
    }
    if (session != null) {
      return new Command.Scope.One(session);
    }
    return all ? new Command.Scope.All() : new Command.Scope.Expired();
  }

  private static @Nullable SessionId session(ParseResult asked) {
    Optional<String> text = Optional.ofNullable(asked.matchedPositionalValue(0, null));
    if (text.isEmpty()) {
      return null;
    }
    // Not quoted: what was meant may be the secret of a client.
    return SessionId.parse(text.get())
        .orElseThrow(() -> wrong(asked, "SESSION is not an id of 43 characters"));
  }

  static ParameterException wrong(ParseResult asked, String what) {
    return new ParameterException(asked.commandSpec().commandLine(), what);
  }
}
