package dev.holdfast.cli;

import static dev.holdfast.cli.CommandLineSyntax.usageError;

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

/** Parses the command line without starting Quarkus, so that help and errors come at once. */
final class CommandLineReader {

  private CommandLineReader() {}

  /** Parses the arguments of the program. An error becomes a {@link Command.Print}. */
  static Command read(String... arguments) {
    CommandLine root = new CommandLine(CommandLineSyntax.program());
    try {
      ParseResult program = root.parseArgs(arguments);
      ParseResult command = program.hasSubcommand() ? program.subcommand() : program;
      if (command.isUsageHelpRequested() || program.isUsageHelpRequested()) {
        return new Command.Print(ExitCode.SUCCESS, usage(command.commandSpec().commandLine()));
      }
      if (command.isVersionHelpRequested() || program.isVersionHelpRequested()) {
        String version = "holdfast " + CommandLineSyntax.version() + "\n";
        return new Command.Print(ExitCode.SUCCESS, version);
      }
      if (program.hasSubcommand() && !program.matchedOptions().isEmpty()) {
        String option = program.matchedOptions().getFirst().longestName();
        throw usageError(program, option + " must come after the command");
      }
      return command(command);
    } catch (ParameterException error) {
      return new Command.Print(
          ExitCode.USAGE, error.getMessage() + "\n\n" + usage(error.getCommandLine()));
    }
  }

  private static String usage(CommandLine command) {
    return command.getUsageMessage(Ansi.OFF);
  }

  private static Command command(ParseResult parsed) {
    Map<String, String> properties = OptionProperties.of(parsed);
    boolean json = parsed.matchedOptionValue(CommandLineSyntax.JSON, false);
    return switch (parsed.commandSpec().name()) {
      case CommandLineSyntax.PROGRAM, CommandLineSyntax.SERVE -> new Command.Serve(properties);
      case CommandLineSyntax.STDIO -> new Command.Stdio(properties);
      case CommandLineSyntax.DOCTOR -> new Command.Doctor(properties, json);
      case CommandLineSyntax.SESSIONS -> new Command.Sessions(properties, json);
      case CommandLineSyntax.STREAMS -> new Command.Streams(properties, session(parsed), json);
      case CommandLineSyntax.TAIL -> tail(parsed, properties, json);
      case CommandLineSyntax.PURGE -> new Command.Purge(properties, scope(parsed), json);
      default -> throw usageError(parsed, "unknown command: " + parsed.commandSpec().name());
    };
  }

  private static Command tail(ParseResult parsed, Map<String, String> properties, boolean json) {
    SessionId session = session(parsed);
    if (session == null) {
      throw usageError(parsed, "SESSION is missing");
    }
    String stream = parsed.matchedPositionalValue(1, "");
    if (!stream.isEmpty() && !StreamRef.isName(stream)) {
      throw usageError(parsed, "STREAM must be 1 to 32 letters and digits, not " + stream);
    }
    String from = parsed.matchedOptionValue(CommandLineSyntax.FROM, "");
    if (from.isEmpty()) {
      String name = stream.isEmpty() ? null : stream;
      return new Command.Tail(properties, session, name, Position.START, json);
    }
    EventId id = eventId(parsed, from, session);
    if (!stream.isEmpty() && !id.stream().equals(stream)) {
      throw usageError(parsed, "--from is an event of stream " + id.stream() + ", not " + stream);
    }
    return new Command.Tail(properties, session, id.stream(), id.position(), json);
  }

  /** Parses an event id of either transport. Errors do not quote it: it may hold a session id. */
  private static EventId eventId(ParseResult parsed, String text, SessionId session) {
    EventId id =
        EventId.parse(text)
            .or(() -> EventId.parseWithSession(text))
            .orElseThrow(() -> usageError(parsed, "--from is not an event id (<stream>_<ms>-<n>)"));
    if (id.session() != null && !id.session().equals(session)) {
      throw usageError(parsed, "--from is an event of another session");
    }
    return id;
  }

  private static Command.Scope scope(ParseResult parsed) {
    SessionId session = session(parsed);
    boolean expired = parsed.hasMatchedOption(CommandLineSyntax.EXPIRED);
    boolean all = parsed.hasMatchedOption(CommandLineSyntax.ALL);
    int given = (session == null ? 0 : 1) + (expired ? 1 : 0) + (all ? 1 : 0);
    if (given != 1) {
      throw usageError(parsed, "exactly one of SESSION, --expired and --all is required");
    }
    if (all && !parsed.hasMatchedOption(CommandLineSyntax.YES)) {
      throw usageError(parsed, "--all ends every session; confirm it with --yes");
    }
    if (session != null) {
      return new Command.Scope.One(session);
    }
    return all ? new Command.Scope.All() : new Command.Scope.Expired();
  }

  private static @Nullable SessionId session(ParseResult parsed) {
    Optional<String> text = Optional.ofNullable(parsed.matchedPositionalValue(0, null));
    if (text.isEmpty()) {
      return null;
    }
    // The error does not quote the text: it may be most of a session id, which is a secret.
    return SessionId.parse(text.get())
        .orElseThrow(() -> usageError(parsed, "SESSION must be a session id of 43 characters"));
  }
}
