package dev.holdfast.cli;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.session.SessionId;
import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Parses the command line without starting Quarkus, so that help and errors come at once. Options
 * become configuration; an empty value overrides the value of other sources.
 */
final class CommandLineReader {

  private static final int MAX_PORT = 65_535;
  private static final Pattern HAS_SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://");
  private static final String URL = "holdfast.upstream.url";
  private static final String COMMAND = "holdfast.upstream.command";
  private static final String CLIENT_ID = "holdfast.upstream.token.client-id";
  private static final String TRANSPORT = "holdfast.upstream.transport";
  private static final List<String> TRANSPORTS = List.of("auto", "streamable-http", "sse", "stdio");

  private final ParseResult parsed;
  private final Map<String, String> properties = new LinkedHashMap<>();

  private CommandLineReader(ParseResult parsed) {
    this.parsed = parsed;
  }

  /** Parses the arguments of the program. An error becomes a {@link Command.Print}. */
  static Command read(String... arguments) {
    // The value of an option may be the name of a command, such as that of --transport.
    CommandLine root =
        new CommandLine(CommandLineSyntax.program()).setAllowSubcommandsAsOptionParameters(true);
    try {
      ParseResult program = root.parseArgs(withHelpOption(arguments));
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
        throw new ParameterException(root, option + " must come after the command");
      }
      return new CommandLineReader(command).command();
    } catch (ParameterException error) {
      return new Command.Print(ExitCode.USAGE, PrintableText.of(text(error)) + "\n" + hint(error));
    }
  }

  /** {@code help doctor} means {@code doctor --help}. */
  private static String[] withHelpOption(String... arguments) {
    boolean help = arguments.length > 0 && arguments[0].equals("help");
    return help
        ? Stream.concat(Stream.of(arguments).skip(1), Stream.of("--help")).toArray(String[]::new)
        : arguments;
  }

  private static String text(ParameterException error) {
    if (!(error instanceof UnmatchedArgumentException unmatched)) {
      return String.valueOf(error.getMessage());
    }
    String word = unmatched.getUnmatched().getFirst();
    String meant =
        unmatched.getSuggestions().stream()
            .findFirst()
            .map(suggestion -> " Did you mean " + suggestion + "?")
            .orElse("");
    String kind = unmatched.isUnknownOption() ? "option" : "command or argument";
    return "There is no " + kind + " " + word + "." + meant;
  }

  private static String hint(ParameterException error) {
    String command = error.getCommandLine().getCommandSpec().qualifiedName();
    return "'" + command + " --help' shows what there is.\n";
  }

  private static String usage(CommandLine command) {
    return command.getUsageMessage(Ansi.OFF);
  }

  private Command command() {
    addServer();
    addStore();
    addUpstream();
    boolean json = parsed.matchedOptionValue(CommandLineSyntax.JSON, false);
    String name = parsed.commandSpec().name();
    return switch (name) {
      case CommandLineSyntax.PROGRAM, CommandLineSyntax.SERVE -> new Command.Serve(properties);
      case CommandLineSyntax.STDIO ->
          new Command.Stdio(properties, !parsed.hasMatchedOption(CommandLineSyntax.NO_BROWSER));
      case CommandLineSyntax.DOCTOR ->
          parsed.hasMatchedOption(CommandLineSyntax.LIVE)
              ? new Command.Live(LivenessCheck.configuredPort())
              : new Command.Doctor(properties, json);
      case CommandLineSyntax.CONFIG -> new Command.Config(onlyCheck(), json);
      case CommandLineSyntax.SESSIONS -> new Command.Sessions(properties, json);
      case CommandLineSyntax.STREAMS -> new Command.Streams(properties, session(), json);
      case CommandLineSyntax.TAIL -> tail(json);
      case CommandLineSyntax.PURGE -> new Command.Purge(properties, scope(), json);
      case CommandLineSyntax.REPLAY -> replay();
      case CommandLineSyntax.VERIFY ->
          new Command.Verify(
              properties,
              tape(),
              parsed.matchedOptionValue(CommandLineSyntax.IGNORE, List.of()),
              json);
      case CommandLineSyntax.KEY -> key();
      case CommandLineSyntax.SHOW -> new Command.Show(tape(), json);
      default -> throw usageError("unknown command: " + name);
    };
  }

  private void addServer() {
    String host = option(CommandLineSyntax.HOST);
    if (!host.isEmpty()) {
      properties.put("quarkus.http.host", host);
    }
    if (parsed.hasMatchedOption(CommandLineSyntax.PORT)) {
      String port = option(CommandLineSyntax.PORT);
      if (!port.matches("\\d{1,5}") || Integer.parseInt(port) > MAX_PORT) {
        throw usageError("--port must be 0 to " + MAX_PORT + ", not " + port);
      }
      properties.put("quarkus.http.port", port);
    }
  }

  private void addStore() {
    String store = option(CommandLineSyntax.STORE);
    if (store.startsWith("redis://") || store.startsWith("rediss://")) {
      properties.put("holdfast.store", "redis");
      properties.put("quarkus.redis.hosts", store);
    } else if (store.equals("memory") || store.equals("redis")) {
      properties.put("holdfast.store", store);
    } else if (parsed.hasMatchedOption(CommandLineSyntax.STORE)) {
      throw usageError("--store must be memory, redis or a redis:// URL");
    }
  }

  private void addUpstream() {
    String transport = option(CommandLineSyntax.TRANSPORT);
    if (TRANSPORTS.contains(transport)) {
      properties.put(TRANSPORT, transport);
    } else if (parsed.hasMatchedOption(CommandLineSyntax.TRANSPORT)) {
      throw usageError("--transport must be one of " + TRANSPORTS + ", not " + transport);
    }
    String upstream = option(CommandLineSyntax.UPSTREAM);
    if (HAS_SCHEME.matcher(upstream).lookingAt()) {
      putUrl(CommandLineSyntax.UPSTREAM, upstream);
    } else if (!upstream.isEmpty()) {
      putServer("", upstream);
    }
    if (parsed.commandSpec().name().equals(CommandLineSyntax.STDIO)) {
      addServerOfStdio();
    }
  }

  private void addServerOfStdio() {
    String url = option(CommandLineSyntax.URL);
    List<String> program = parsed.matchedPositionalValue(0, List.of());
    if (!url.isEmpty() && !program.isEmpty()) {
      throw usageError("--url and COMMAND exclude each other");
    }
    String clientId = option(CommandLineSyntax.CLIENT_ID);
    if (!clientId.isEmpty()) {
      properties.put(CLIENT_ID, clientId);
    }
    if (!url.isEmpty()) {
      putUrl(CommandLineSyntax.URL, url);
    } else if (!program.isEmpty()) {
      putServer(
          "", program.stream().map(CommandLineReader::quoted).collect(Collectors.joining(" ")));
    }
  }

  /** The errors do not quote the URL, which may hold a password. */
  private void putUrl(String option, String url) {
    if (!isUrl(url)) {
      throw usageError(option + " must begin with http:// or https://");
    }
    try {
      putServer(URI.create(url).toString(), "");
    } catch (IllegalArgumentException malformed) {
      throw usageError(option + " must be a valid URL");
    }
  }

  /** Overrides other sources, which may configure a server of the other kind. */
  private void putServer(String url, String command) {
    properties.put(URL, url);
    properties.put(COMMAND, command);
    properties.putIfAbsent(TRANSPORT, "auto");
  }

  /** Quotes an argument for a command line that is split as a shell does. */
  private static String quoted(String argument) {
    return "'" + argument.replace("'", "'\\''") + "'";
  }

  private static boolean isUrl(String text) {
    return text.startsWith("http://") || text.startsWith("https://");
  }

  private Command tail(boolean json) {
    SessionId session = session();
    if (session == null) {
      throw usageError("SESSION is missing");
    }
    String name = parsed.matchedPositionalValue(1, "");
    String stream = name.isEmpty() ? null : name;
    if (stream != null && !StreamRef.isName(stream)) {
      throw usageError("STREAM must be 1 to 32 letters and digits, not " + stream);
    }
    String from = option(CommandLineSyntax.FROM);
    if (from.isEmpty()) {
      return new Command.Tail(properties, session, stream, Position.START, json);
    }
    // The errors do not quote the event id, which may hold a session id.
    EventId id =
        EventId.parse(from)
            .or(() -> EventId.parseWithSession(from))
            .orElseThrow(() -> usageError("--from is not an event id (<stream>_<ms>-<n>)"));
    if (id.session() != null && !id.session().equals(session)) {
      throw usageError("--from is an event of another session");
    }
    if (stream != null && !id.stream().equals(stream)) {
      throw usageError("--from is an event of stream " + id.stream() + ", not " + stream);
    }
    return new Command.Tail(properties, session, id.stream(), id.position(), json);
  }

  private boolean onlyCheck() {
    String word = parsed.matchedPositionalValue(0, "");
    if (!word.isEmpty() && !word.equals(CommandLineSyntax.CHECK)) {
      throw usageError("config takes nothing but check, not " + word);
    }
    return !word.isEmpty();
  }

  private Command replay() {
    boolean waits = !parsed.hasMatchedOption(CommandLineSyntax.NO_WAIT);
    String speed = parsed.matchedOptionValue(CommandLineSyntax.SPEED, "1");
    if (!speed.matches("\\d{1,6}(\\.\\d{1,6})?") || Double.parseDouble(speed) == 0) {
      throw usageError("--speed must be a positive number up to 999999, not " + speed);
    }
    // The tape replaces a configured server, and is not recorded again.
    putServer("", "");
    properties.put("holdfast.record.dir", "");
    return new Command.Replay(properties, tape(), Double.parseDouble(speed), waits);
  }

  /** Nothing keeps the key: it is shown once. */
  private static Command key() {
    AccessKey key = AccessKey.random();
    return new Command.Print(
        ExitCode.SUCCESS, "key:  " + key.value() + "\nhash: " + key.hash() + "\n");
  }

  private Path tape() {
    String tape = parsed.matchedPositionalValue(0, "");
    if (tape.isEmpty()) {
      throw usageError("TAPE is missing");
    }
    try {
      return Path.of(tape);
    } catch (InvalidPathException invalid) {
      throw usageError("TAPE must be a path");
    }
  }

  private Command.Scope scope() {
    SessionId session = session();
    boolean expired = parsed.hasMatchedOption(CommandLineSyntax.EXPIRED);
    boolean all = parsed.hasMatchedOption(CommandLineSyntax.ALL);
    int given = (session == null ? 0 : 1) + (expired ? 1 : 0) + (all ? 1 : 0);
    if (given != 1) {
      throw usageError("exactly one of SESSION, --expired and --all is required");
    }
    if (all && !parsed.hasMatchedOption(CommandLineSyntax.YES)) {
      throw usageError("--all ends every session; confirm it with --yes");
    }
    if (session != null) {
      return new Command.Scope.One(session);
    }
    return all ? new Command.Scope.All() : new Command.Scope.Expired();
  }

  private @Nullable SessionId session() {
    String text = parsed.matchedPositionalValue(0, null);
    if (text == null) {
      return null;
    }
    // The error does not quote the text: it may be most of a session id, which is a secret.
    return SessionId.parse(text)
        .orElseThrow(() -> usageError("SESSION must be a session id of 43 characters"));
  }

  private String option(String name) {
    return parsed.matchedOptionValue(name, "");
  }

  /** Returns an error that is printed above the usage of the command. */
  private ParameterException usageError(String message) {
    return new ParameterException(parsed.commandSpec().commandLine(), message);
  }
}
