package dev.holdfast.cli;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.CallState;
import dev.holdfast.relay.stream.EventId;
import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Parses the command line without starting Quarkus, so that help and errors come at once. Options
 * become configuration; an empty value overrides the value of other sources.
 */
final class CommandLineReader {

  private static final int MAX_PORT = 65_535;

  /** As many characters as the log and the console show. */
  private static final int SHORTEST_SESSION = 6;

  private static final Pattern HAS_SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://");
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
        String usage = command.commandSpec().commandLine().getUsageMessage(Ansi.OFF);
        return new Command.Print(ExitCode.SUCCESS, usage);
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
      String command = error.getCommandLine().getCommandSpec().qualifiedName();
      return new Command.Print(
          ExitCode.USAGE,
          PrintableText.of(text(error)) + "\n'" + command + " --help' shows what there is.\n");
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
    String meant =
        unmatched.getSuggestions().stream()
            .findFirst()
            .map(suggestion -> " Did you mean " + suggestion + "?")
            .orElse("");
    String kind = unmatched.isUnknownOption() ? "option" : "command or argument";
    return "There is no " + kind + " " + unmatched.getUnmatched().getFirst() + "." + meant;
  }

  private Command command() {
    for (OptionSpec option : parsed.matchedOptions()) {
      configure(option.longestName(), option.stringValues().getLast());
    }
    boolean json = has("--json");
    String name = parsed.commandSpec().name();
    return switch (name) {
      case "holdfast", "serve" -> new Command.Serve(properties);
      case "stdio" -> stdio();
      case "doctor" ->
          has("--live")
              ? new Command.Live(LivenessCheck.port(System.getenv()))
              : new Command.Doctor(properties, json);
      case "config" -> new Command.Config(onlyCheck(), json);
      case "sessions" -> new Command.Sessions(properties, json);
      case "streams" ->
          new Command.Streams(properties, argument(0).isEmpty() ? null : session(), json);
      case "calls" -> new Command.Calls(properties, filter(), json);
      case "result" -> new Command.Result(properties, call(), has("--wait"), json);
      case "cancel" -> new Command.Cancel(properties, call(), json);
      case "tail" -> tail(json);
      case "purge" -> purge(json);
      case "replay" -> replay();
      case "verify" ->
          new Command.Verify(
              properties,
              tape(),
              List.of(parsed.matchedOptionValue("--ignore", new String[0])),
              json);
      case "show" -> new Command.Show(tape(), json);
      case "key" -> key();
      default -> throw usageError("unknown command: " + name);
    };
  }

  /** Turns an option into configuration, if it is one of those. */
  private void configure(String option, String value) {
    switch (option) {
      case "--port" -> {
        require(
            value.matches("\\d{1,5}") && Integer.parseInt(value) <= MAX_PORT,
            "--port must be 0 to " + MAX_PORT + ", not " + value);
        properties.put("quarkus.http.port", value);
      }
      case "--transport" -> {
        require(
            TRANSPORTS.contains(value),
            "--transport must be one of " + TRANSPORTS + ", not " + value);
        properties.put(TRANSPORT, value);
      }
      case "--store" -> putStore(value);
      case "--host" -> putUnlessEmpty("quarkus.http.host", value);
      case "--client-id" -> putUnlessEmpty("holdfast.upstream.token.client-id", value);
      case "--url" -> putUrl(option, value);
      case "--upstream" -> {
        if (value.isEmpty() || HAS_SCHEME.matcher(value).lookingAt()) {
          putUrl(option, value);
        } else {
          putServer("", value);
        }
      }
      default -> {}
    }
  }

  private void putStore(String store) {
    boolean url = store.startsWith("redis://") || store.startsWith("rediss://");
    require(
        url || store.equals("memory") || store.equals("redis"),
        "--store must be memory, redis or a redis:// URL");
    properties.put("holdfast.store", url ? "redis" : store);
    if (url) {
      properties.put("quarkus.redis.hosts", store);
    }
  }

  private void putUnlessEmpty(String key, String value) {
    if (!value.isEmpty()) {
      properties.put(key, value);
    }
  }

  /** The errors do not quote the URL, which may hold a password. */
  private void putUrl(String option, String url) {
    if (url.isEmpty()) {
      return;
    }
    require(
        url.startsWith("http://") || url.startsWith("https://"),
        option + " must begin with http:// or https://");
    try {
      putServer(URI.create(url).toString(), "");
    } catch (IllegalArgumentException malformed) {
      throw usageError(option + " must be a valid URL");
    }
  }

  /** Overrides other sources, which may configure a server of the other kind. */
  private void putServer(String url, String command) {
    properties.put("holdfast.upstream.url", url);
    properties.put("holdfast.upstream.command", command);
    properties.putIfAbsent(TRANSPORT, "auto");
  }

  private Command stdio() {
    String[] program = parsed.matchedPositionalValue(0, new String[0]);
    if (program.length > 0) {
      require(option("--url").isEmpty(), "--url and COMMAND exclude each other");
      String command =
          Stream.of(program).map(CommandLineReader::quoted).collect(Collectors.joining(" "));
      putServer("", command);
    }
    return new Command.Stdio(properties, !has("--no-browser"));
  }

  /** Quotes an argument for a command line that is split as a shell does. */
  private static String quoted(String argument) {
    return "'" + argument.replace("'", "'\\''") + "'";
  }

  private Command tail(boolean json) {
    String session = session();
    String name = argument(1);
    require(
        name.isEmpty() || StreamRef.isName(name),
        "STREAM must be 1 to 32 letters and digits, not " + name);
    String from = option("--from");
    if (from.isEmpty()) {
      String stream = name.isEmpty() ? null : name;
      return new Command.Tail(properties, session, stream, Position.START, json);
    }
    // The errors do not quote the event id, which may hold a session id.
    EventId id =
        EventId.parse(from)
            .or(() -> EventId.parseWithSession(from))
            .orElseThrow(() -> usageError("--from is not an event id (<stream>_<ms>-<n>)"));
    require(
        id.session() == null || id.session().value().startsWith(session),
        "--from is an event of another session");
    require(
        name.isEmpty() || id.stream().equals(name),
        "--from is an event of stream " + id.stream() + ", not " + name);
    return new Command.Tail(properties, session, id.stream(), id.position(), json);
  }

  private CallFilter filter() {
    String state = option("--state");
    CallState chosen =
        Stream.of(CallState.values())
            .filter(each -> each.text().equals(state))
            .findFirst()
            .orElse(null);
    require(
        state.isEmpty() || chosen != null,
        "--state must be running, waiting, finished, failed or cancelled, not " + state);
    return new CallFilter(
        chosen, orNull("--tool"), orNull("--server"), orNull("--principal"), olderThan());
  }

  private @Nullable String orNull(String name) {
    String value = option(name);
    return value.isEmpty() ? null : value;
  }

  private @Nullable Duration olderThan() {
    String text = option("--older-than");
    if (text.isEmpty()) {
      return null;
    }
    require(
        text.matches("\\d{1,6}[smhd]"),
        "--older-than must be a number with s, m, h or d, such as 90s, not " + text);
    String unit = text.substring(text.length() - 1).toUpperCase(Locale.ROOT);
    String number = text.substring(0, text.length() - 1);
    return Duration.parse((unit.equals("D") ? "P" : "PT") + number + unit);
  }

  /** The errors do not quote the id, which holds a session id. */
  private StreamRef call() {
    String text = argument(0);
    require(!text.isEmpty(), "CALL is missing");
    EventId first =
        EventId.parseWithSession(text + "_" + Position.START)
            .orElseThrow(() -> usageError("CALL must be <session>_<stream>, as calls prints it"));
    return new StreamRef(
        new LogKey(Objects.requireNonNull(first.session()).value()), first.stream());
  }

  private boolean onlyCheck() {
    String word = argument(0);
    require(word.isEmpty() || word.equals("check"), "config takes nothing but check, not " + word);
    return !word.isEmpty();
  }

  private Command replay() {
    String speed = parsed.matchedOptionValue("--speed", "1");
    require(
        speed.matches("\\d{1,6}(\\.\\d{1,6})?") && Double.parseDouble(speed) > 0,
        "--speed must be a positive number up to 999999, not " + speed);
    // The tape replaces a configured server, and is not recorded again.
    putServer("", "");
    properties.put("holdfast.record.dir", "");
    return new Command.Replay(properties, tape(), Double.parseDouble(speed), !has("--no-wait"));
  }

  /** Nothing keeps the key: it is shown once. */
  private static Command key() {
    AccessKey key = AccessKey.random();
    return new Command.Print(
        ExitCode.SUCCESS, "key:  " + key.value() + "\nhash: " + key.hash() + "\n");
  }

  private Path tape() {
    require(!argument(0).isEmpty(), "TAPE is missing");
    try {
      return Path.of(argument(0));
    } catch (InvalidPathException invalid) {
      throw usageError("TAPE must be a path");
    }
  }

  private Command purge(boolean json) {
    boolean one = !argument(0).isEmpty();
    boolean all = has("--all");
    require(
        Stream.of(one, all, has("--expired")).filter(given -> given).count() == 1,
        "exactly one of SESSION, --expired and --all is required");
    require(!all || has("--yes"), "--all ends every session; confirm it with --yes");
    return new Command.Purge(properties, one ? session() : null, all, json);
  }

  private String session() {
    String text = argument(0);
    require(!text.isEmpty(), "SESSION is missing");
    // The error does not quote the text: it may be most of a session id, which is a secret.
    require(
        text.length() >= SHORTEST_SESSION && SessionId.isBeginning(text),
        "SESSION must be the first %d to %d characters of a session id"
            .formatted(SHORTEST_SESSION, SessionId.LENGTH));
    return text;
  }

  private boolean has(String option) {
    return parsed.hasMatchedOption(option);
  }

  private String option(String name) {
    return parsed.matchedOptionValue(name, "");
  }

  private String argument(int index) {
    return parsed.matchedPositionalValue(index, "");
  }

  private void require(boolean valid, String rule) {
    if (!valid) {
      throw usageError(rule);
    }
  }

  private ParameterException usageError(String message) {
    return new ParameterException(parsed.commandSpec().commandLine(), message);
  }
}
