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
 * Which commands there are, and their options. Put together by hand and not with annotations: a
 * native image then needs to know nothing of it.
 */
final class Syntax {

  static final String PROGRAM = "holdfast";
  static final String SERVE = "serve";
  static final String STDIO = "stdio";
  static final String DOCTOR = "doctor";
  static final String SESSIONS = "sessions";
  static final String STREAMS = "streams";
  static final String TAIL = "tail";
  static final String PURGE = "purge";

  static final String HOST = "--host";
  static final String PORT = "--port";
  static final String TRANSPORT = "--transport";
  static final String STORE = "--store";
  static final String UPSTREAM = "--upstream";
  static final String URL = "--url";
  static final String JSON = "--json";
  static final String FROM = "--from";
  static final String EXPIRED = "--expired";
  static final String ALL = "--all";
  static final String YES = "--yes";

  private Syntax() {}

  /** The whole program, which serves when no command is named. */
  static CommandSpec program() {
    CommandSpec program = serving(command(PROGRAM, "Makes the streams of any MCP server durable."));
    program
        .usageMessage()
        .footerHeading("%nWithout a command: serve. Options stand behind the command.%n")
        .exitCodeListHeading("%nExit codes:%n")
        .exitCodeList(exitCodes());
    Stream.of(
            serving(command(SERVE, "Runs the gateway.")),
            stdio(),
            reporting(
                command(DOCTOR, "Checks store, upstream, clock and limits; says what to mend.")
                    .addOption(upstream())),
            reporting(command(SESSIONS, "Lists the sessions in the store.")),
            reporting(command(STREAMS, "Lists the streams of one session, or of all."))
                .addPositional(word(0, "SESSION", "0..1", "the id of a session")),
            tail(),
            purge())
        .forEach(each -> program.addSubcommand(each.name(), each));
    return program;
  }

  /** The version of the program. */
  static String version() {
    try (InputStream in = Syntax.class.getResourceAsStream("version.txt")) {
      return in == null ? "unknown" : new String(in.readAllBytes(), UTF_8).strip();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static CommandSpec serving(CommandSpec command) {
    return command
        .addOption(option(HOST, "ADDRESS", "where to listen (quarkus.http.host)"))
        .addOption(
            OptionSpec.builder(PORT)
                .type(Integer.class)
                .paramLabel("PORT")
                .description("the port to listen on; 0 for any (quarkus.http.port)")
                .build())
        .addOption(
            option(
                TRANSPORT,
                "NAME",
                "what the server behind speaks: auto, streamable-http, sse or stdio"
                    + " (holdfast.upstream.transport)"))
        .addOption(store())
        .addOption(upstream());
  }

  private static CommandSpec stdio() {
    CommandSpec stdio =
        command(STDIO, "Is an MCP server on stdin and stdout, for clients that speak only that.")
            .addOption(
                option(
                    URL, "URL", "the server in front of which it stands, and stays through cuts"))
            .addPositional(
                PositionalParamSpec.builder()
                    .paramLabel("COMMAND")
                    .index("0..*")
                    .arity("0..*")
                    .type(List.class)
                    .auxiliaryTypes(String.class)
                    .description("behind --: the program in front of which it stands")
                    .build());
    stdio.parser().stopAtPositional(true);
    stdio
        .usageMessage()
        .footer("With neither, it stands in front of the server that is configured.");
    return stdio;
  }

  private static CommandSpec tail() {
    return reporting(command(TAIL, "Follows a stream; its client notices nothing."))
        .addPositional(word(0, "SESSION", "1", "the id of a session"))
        .addPositional(
            word(
                1,
                "STREAM",
                "0..1",
                "the name of a stream, unless --from has it; without either the standalone one, g,"
                    + " or that of a session over HTTP+SSE, m"))
        .addOption(option(FROM, "EVENT-ID", "begin after this event and not with the oldest"));
  }

  private static CommandSpec purge() {
    return reporting(command(PURGE, "Ends sessions, with all that the store has of them."))
        .addPositional(word(0, "SESSION", "0..1", "the id of a session"))
        .addOption(flag(EXPIRED, "those that nobody used for too long"))
        .addOption(flag(ALL, "every session"))
        .addOption(flag(YES, "what --all wants to hear as well"));
  }

  private static CommandSpec reporting(CommandSpec command) {
    return command.addOption(store()).addOption(flag(JSON, "for scripts: JSON, one object a line"));
  }

  private static CommandSpec command(String name, String description) {
    CommandSpec command =
        CommandSpec.create()
            .name(name)
            .addOption(
                OptionSpec.builder("-h", "--help").usageHelp(true).description("this").build())
            .addOption(
                OptionSpec.builder("-V", "--version")
                    .versionHelp(true)
                    .description("the version")
                    .build());
    command.usageMessage().description(description).abbreviateSynopsis(true);
    return command;
  }

  private static OptionSpec store() {
    return option(
        STORE, "STORE", "memory, redis (at quarkus.redis.hosts), or the URL of a Redis server");
  }

  private static OptionSpec upstream() {
    return option(
        UPSTREAM, "URL|COMMAND", "the MCP server behind: a URL, or a command in one word");
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

  private static PositionalParamSpec word(
      int index, String label, String arity, String description) {
    return PositionalParamSpec.builder()
        .index(Integer.toString(index))
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
