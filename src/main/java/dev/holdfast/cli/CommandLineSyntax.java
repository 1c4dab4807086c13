package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The commands with their options and help texts. They do not use Picocli's annotations, which need
 * reflection in a native image.
 */
final class CommandLineSyntax {

  static final String PROGRAM = "holdfast";
  static final String SERVE = "serve";
  static final String STDIO = "stdio";
  static final String DOCTOR = "doctor";
  static final String SESSIONS = "sessions";
  static final String STREAMS = "streams";
  static final String TAIL = "tail";
  static final String PURGE = "purge";
  static final String REPLAY = "replay";
  static final String VERIFY = "verify";
  static final String SHOW = "show";
  static final String KEY = "key";
  static final String CONFIG = "config";
  static final String CHECK = "check";

  static final String HOST = "--host";
  static final String PORT = "--port";
  static final String TRANSPORT = "--transport";
  static final String STORE = "--store";
  static final String UPSTREAM = "--upstream";
  static final String URL = "--url";
  static final String JSON = "--json";
  static final String LIVE = "--live";
  static final String FROM = "--from";
  static final String EXPIRED = "--expired";
  static final String ALL = "--all";
  static final String YES = "--yes";
  static final String SPEED = "--speed";
  static final String NO_WAIT = "--no-wait";
  static final String IGNORE = "--ignore";
  static final String CLIENT_ID = "--client-id";
  static final String NO_BROWSER = "--no-browser";

  private CommandLineSyntax() {}

  static CommandSpec program() {
    CommandSpec program = serving(command(PROGRAM, "Makes the streams of any MCP server durable."));
    program
        .usageMessage()
        .footerHeading("%nThe default command is serve. Options come after the command.%n")
        .exitCodeListHeading("%nExit codes:%n")
        .exitCodeList(exitCodes());
    Stream.of(
            serving(command(SERVE, "Runs the gateway.")),
            stdio(),
            reporting(
                command(DOCTOR, "Checks store, upstreams, clock and limits, and suggests fixes.")
                    .addOption(upstream())
                    .addOption(
                        flag(LIVE, "only ask the gateway on this machine whether it is alive"))),
            command(CONFIG, "Prints the configuration in force, and where it comes from.")
                .addOption(json())
                .addPositional(argument("0", CHECK, "0..1", "only print what is wrong with it")),
            reporting(command(SESSIONS, "Lists the sessions in the store.")),
            reporting(command(STREAMS, "Lists the streams of one session, or of all sessions."))
                .addPositional(argument("0", "SESSION", "0..1", "session id")),
            tail(),
            purge(),
            replay(),
            verify(),
            command(SHOW, "Prints a tape as a time line with one column per stream.")
                .addOption(json())
                .addPositional(tape()),
            key())
        .forEach(each -> program.addSubcommand(each.name(), each));
    return program;
  }

  static String version() {
    try (InputStream in = CommandLineSyntax.class.getResourceAsStream("version.txt")) {
      return in == null ? "unknown" : new String(in.readAllBytes(), UTF_8).strip();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static CommandSpec serving(CommandSpec command) {
    return listening(command).addOption(transport()).addOption(upstream());
  }

  private static CommandSpec listening(CommandSpec command) {
    return command
        .addOption(option(HOST, "ADDRESS", "address to listen on (quarkus.http.host)"))
        .addOption(option(PORT, "PORT", "port to listen on, 0 for any (quarkus.http.port)"))
        .addOption(store());
  }

  private static CommandSpec replay() {
    return listening(command(REPLAY, "Serves a tape as an MCP server, at the recorded pace."))
        .addOption(option(SPEED, "FACTOR", "how much faster, such as 10 or 0.5; default: 1"))
        .addOption(flag(NO_WAIT, "send each message at once"))
        .addPositional(tape());
  }

  private static CommandSpec verify() {
    return command(VERIFY, "Sends the requests of a tape to a server and reports differences.")
        .addOption(upstream())
        .addOption(transport())
        .addOption(
            OptionSpec.builder(IGNORE)
                .arity("1")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .paramLabel("POINTER")
                .description(
                    "JSON pointer of values that may differ, such as"
                        + " /result/content/*/text; may be repeated")
                .build())
        .addOption(json())
        .addPositional(tape());
  }

  private static CommandSpec key() {
    CommandSpec key = command(KEY, "Makes a key for a client, and the hash for the configuration.");
    key.usageMessage()
        .footer(
            "The gateway knows only the hash: holdfast.auth.keys.<name>.hash. The client sends"
                + " the key: Authorization: Bearer <key>.");
    return key;
  }

  private static PositionalParamSpec tape() {
    return argument("0", "TAPE", "1", "first file of the tape");
  }

  private static CommandSpec stdio() {
    CommandSpec stdio =
        command(STDIO, "Connects an MCP client on stdin and stdout to a server.")
            .addOption(option(URL, "URL", "URL of the server; lost connections are resumed"))
            .addOption(
                option(
                    CLIENT_ID,
                    "ID",
                    "id at the authorization server; default: it registers one"
                        + " (holdfast.upstream.token.client-id)"))
            .addOption(flag(NO_BROWSER, "only log the address of the page to sign in"))
            .addPositional(
                PositionalParamSpec.builder()
                    .paramLabel("COMMAND")
                    .index("0..*")
                    .arity("0..*")
                    .type(List.class)
                    .auxiliaryTypes(String.class)
                    .description("after --: program to run as the server, with its arguments")
                    .build());
    stdio.parser().stopAtPositional(true);
    stdio
        .usageMessage()
        .customSynopsis("holdfast stdio [OPTIONS] [--url=URL | -- COMMAND...]")
        .footer("Without URL and COMMAND, the server is the configured upstream.");
    return stdio;
  }

  private static CommandSpec tail() {
    return reporting(command(TAIL, "Prints a stream and follows it without disturbing its client."))
        .addPositional(argument("0", "SESSION", "1", "session id"))
        .addPositional(
            argument(
                "1",
                "STREAM",
                "0..1",
                "stream name; default: the stream of --from, or else the standalone stream"))
        .addOption(option(FROM, "EVENT-ID", "start after this event; default: the oldest one"));
  }

  private static CommandSpec purge() {
    CommandSpec purge = command(PURGE, "Ends sessions and deletes their data.");
    purge
        .usageMessage()
        .customSynopsis("holdfast purge [OPTIONS] (SESSION | --expired | --all --yes)");
    return reporting(purge)
        .addPositional(argument("0", "SESSION", "0..1", "session id"))
        .addOption(flag(EXPIRED, "end the sessions that exceeded their idle timeout"))
        .addOption(flag(ALL, "end every session"))
        .addOption(flag(YES, "confirm --all"));
  }

  private static CommandSpec reporting(CommandSpec command) {
    return command.addOption(store()).addOption(json());
  }

  private static CommandSpec command(String name, String description) {
    OptionSpec.Builder help = OptionSpec.builder("-h", "--help").usageHelp(true);
    OptionSpec.Builder version = OptionSpec.builder("-V", "--version").versionHelp(true);
    CommandSpec command =
        CommandSpec.create()
            .name(name)
            .addOption(help.description("show this help").build())
            .addOption(version.description("show the version").build());
    command.usageMessage().description(description).abbreviateSynopsis(true);
    return command;
  }

  private static OptionSpec json() {
    return flag(JSON, "print one JSON object per line");
  }

  private static OptionSpec transport() {
    return option(
        TRANSPORT,
        "NAME",
        "transport of the upstream: auto, streamable-http, sse or stdio"
            + " (holdfast.upstream.transport)");
  }

  private static OptionSpec store() {
    return option(
        STORE,
        "STORE",
        "memory, redis (servers: quarkus.redis.hosts), or the URL of a Redis server");
  }

  private static OptionSpec upstream() {
    return option(
        UPSTREAM, "URL|COMMAND", "MCP server: a URL, or a program with its arguments in quotes");
  }

  private static OptionSpec option(String name, String label, String description) {
    return OptionSpec.builder(name)
        .type(String.class)
        .paramLabel(label)
        .description(description)
        .build();
  }

  private static OptionSpec flag(String name, String description) {
    return OptionSpec.builder(name).type(boolean.class).description(description).build();
  }

  private static PositionalParamSpec argument(
      String index, String label, String arity, String description) {
    return PositionalParamSpec.builder()
        .index(index)
        .arity(arity)
        .type(String.class)
        .paramLabel(label)
        .description(description)
        .build();
  }

  private static Map<String, String> exitCodes() {
    Map<String, String> codes = new LinkedHashMap<>();
    for (ExitCode code : ExitCode.values()) {
      codes.put(Integer.toString(code.number()), code.meaning());
    }
    return codes;
  }
}
