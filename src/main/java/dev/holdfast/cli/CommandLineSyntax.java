package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The commands with their options and help texts. They do not use Picocli's annotations, which need
 * reflection in a native image.
 */
final class CommandLineSyntax {

  /**
   * Commands with their options and arguments. An argument in brackets may be missing; three dots
   * mean several. The first row is the program itself.
   */
  private static final String COMMANDS =
      """
      holdfast | --host --port --store --transport --upstream   | Makes the streams of any MCP server durable.
      serve    | --host --port --store --transport --upstream   | Runs the gateway.
      stdio    | --url --client-id --no-browser COMMAND...      | Connects an MCP client on stdin and stdout to a server.
      doctor   | --store --upstream --json --live               | Checks store, upstreams, clock and limits, and suggests fixes.
      config   | --json [check]                                 | Prints the configuration in force, and where it comes from.
      sessions | --store --json                                 | Lists the sessions in the store.
      streams  | --store --json [SESSION]                       | Lists the streams of one session, or of all sessions.
      calls    | --store --json --state --tool --server --principal --older-than | Lists calls that run, and those whose results are kept.
      result   | --store --json --wait CALL                     | Prints the result of a call.
      cancel   | --store --json CALL                            | Ends a call that runs.
      tail     | --store --json --from SESSION [STREAM]         | Prints a stream and follows it without disturbing its client.
      purge    | --store --json --expired --all --yes [SESSION] | Ends sessions and deletes their data.
      replay   | --host --port --store --speed --no-wait TAPE   | Serves a tape as an MCP server, at the recorded pace.
      verify   | --upstream --transport --ignore --json TAPE    | Sends the requests of a tape to a server and reports differences.
      show     | --json TAPE                                    | Prints a tape as a time line with one column per stream.
      key      |                                                | Makes a key for a client, and the hash for the configuration.
      """;

  /** Options and arguments. An option has a value if that has a name here. */
  private static final String ARGUMENTS =
      """
      --all        |             | end every session
      --client-id  | ID          | id at the authorization server; default: it registers one (holdfast.upstream.token.client-id)
      --expired    |             | end the sessions that exceeded their idle timeout
      --from       | EVENT-ID    | start after this event; default: the oldest one
      --host       | ADDRESS     | address to listen on (quarkus.http.host)
      --ignore     | POINTER...  | JSON pointer of values that may differ, such as /result/content/*/text; may be repeated
      --json       |             | print one JSON object per line
      --live       |             | only ask the gateway on this machine whether it is alive
      --no-browser |             | only log the address of the page to sign in
      --no-wait    |             | send each message at once
      --older-than | TIME        | only calls that began before that time: a number with s, m, h or d
      --port       | PORT        | port to listen on, 0 for any (quarkus.http.port)
      --principal  | NAME        | only calls of this subject
      --server     | NAME        | only calls at the upstream of this name
      --speed      | FACTOR      | how much faster, such as 10 or 0.5; default: 1
      --state      | STATE       | only calls in this state: running, waiting, finished, failed or cancelled
      --store      | STORE       | memory, redis (servers: quarkus.redis.hosts), or the URL of a Redis server
      --tool       | NAME        | only calls of this tool
      --transport  | NAME        | transport of the upstream: auto, streamable-http, sse or stdio (holdfast.upstream.transport)
      --upstream   | URL|COMMAND | MCP server: a URL, or a program with its arguments in quotes
      --url        | URL         | URL of the server; lost connections are resumed
      --wait       |             | wait until the call has ended
      --yes        |             | confirm --all
      CALL         |             | id of a call, as calls prints it: <session>_<stream>
      COMMAND      |             | after --: program to run as the server, with its arguments
      SESSION      |             | session id, or its first 6 characters or more
      STREAM       |             | stream name; default: the stream of --from, or else the standalone stream
      TAPE         |             | first file of the tape
      check        |             | only print what is wrong with it
      """;

  private static final Map<String, String[]> ARGUMENTS_BY_NAME =
      rows(ARGUMENTS).collect(Collectors.toMap(row -> row[0], Function.identity()));

  private static final Map<String, String> EXIT_CODES =
      Map.of(
          "0", "success",
          "1", "a problem was found, something does not exist, or the program failed",
          "2", "the command line is invalid",
          "3", "the store cannot be reached",
          "4", "the call still runs");

  private CommandLineSyntax() {}

  static CommandSpec program() {
    List<CommandSpec> commands = rows(COMMANDS).map(CommandLineSyntax::command).toList();
    CommandSpec program = commands.getFirst();
    program
        .usageMessage()
        .footerHeading("%nThe default command is serve. Options come after the command.%n")
        .exitCodeListHeading("%nExit codes:%n")
        .exitCodeList(new TreeMap<>(EXIT_CODES));
    commands.stream().skip(1).forEach(each -> program.addSubcommand(each.name(), each));
    CommandSpec stdio = subcommand(program, "stdio");
    stdio.parser().stopAtPositional(true);
    stdio
        .usageMessage()
        .customSynopsis("holdfast stdio [OPTIONS] [--url=URL | -- COMMAND...]")
        .footer("Without URL and COMMAND, the server is the configured upstream.");
    subcommand(program, "purge")
        .usageMessage()
        .customSynopsis("holdfast purge [OPTIONS] (SESSION | --expired | --all --yes)");
    subcommand(program, "key")
        .usageMessage()
        .footer(
            "The gateway knows only the hash: holdfast.auth.keys.<name>.hash. The client sends"
                + " the key: Authorization: Bearer <key>.");
    return program;
  }

  private static CommandSpec subcommand(CommandSpec program, String name) {
    return Objects.requireNonNull(program.subcommands().get(name)).getCommandSpec();
  }

  private static Stream<String[]> rows(String table) {
    return table.lines().map(line -> line.split(" *\\| +"));
  }

  private static CommandSpec command(String... row) {
    CommandSpec command = CommandSpec.create().name(row[0]);
    command.usageMessage().description(row[2]).abbreviateSynopsis(true);
    OptionSpec.Builder help = OptionSpec.builder("-h", "--help").usageHelp(true);
    OptionSpec.Builder version = OptionSpec.builder("-V", "--version").versionHelp(true);
    command.addOption(help.description("show this help").build());
    command.addOption(version.description("show the version").build());
    Stream.of(row[1].split(" "))
        .filter(name -> !name.isEmpty())
        .forEach(name ->
            command.add(
                name.startsWith("-")
                    ? option(name)
                    : positional(name, command.positionalParameters().size())));
    return command;
  }

  private static ArgSpec option(String name) {
    String[] row = row(name);
    OptionSpec.Builder option = OptionSpec.builder(name).description(row[2]);
    return row[1].isEmpty()
        ? option.type(boolean.class).build()
        : option.type(type(row[1])).paramLabel(label(row[1])).build();
  }

  private static ArgSpec positional(String name, int index) {
    String label = label(name);
    boolean several = name.endsWith("...");
    String arity = several ? "0..*" : name.equals(label) ? "1" : "0..1";
    return PositionalParamSpec.builder()
        .index(index + (several ? "..*" : ""))
        .arity(arity)
        .type(type(name))
        .paramLabel(label)
        .description(row(label)[2])
        .build();
  }

  private static String[] row(String name) {
    return Objects.requireNonNull(ARGUMENTS_BY_NAME.get(name), name);
  }

  private static Class<?> type(String syntax) {
    return syntax.endsWith("...") ? String[].class : String.class;
  }

  private static String label(String syntax) {
    return syntax.replace("...", "").replaceAll("[\\[\\]]", "");
  }

  static String version() {
    try (InputStream in = CommandLineSyntax.class.getResourceAsStream("version.txt")) {
      return in == null ? "unknown" : new String(in.readAllBytes(), UTF_8).strip();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
