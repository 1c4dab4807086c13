package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.SessionId;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.CallState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks which command a command line becomes. */
class CommandLineReaderTest {

  private static final SessionId SESSION = SessionId.random();

  private static Command read(String... arguments) {
    Command command = CommandLineReader.read(arguments);
    assertThat(command).isNotInstanceOf(Command.Print.class);
    return command;
  }

  private static Command.Print printed(String... arguments) {
    Command command = CommandLineReader.read(arguments);
    assertThat(command).isInstanceOf(Command.Print.class);
    return (Command.Print) command;
  }

  @Test
  void withoutACommandShouldServe() {
    assertThat(read()).isEqualTo(new Command.Serve(Map.of()));
    assertThat(read("serve")).isEqualTo(new Command.Serve(Map.of()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "serve"})
  void shouldTurnOptionsIntoConfiguration(String command) {
    String options = "--host 0.0.0.0 --port 0 --transport sse --store redis";

    Command serve = read((command + " " + options).strip().split(" "));

    assertThat(serve)
        .isEqualTo(
            new Command.Serve(
                Map.of(
                    "quarkus.http.host", "0.0.0.0",
                    "quarkus.http.port", "0",
                    "holdfast.upstream.transport", "sse",
                    "holdfast.store", "redis")));
  }

  @Test
  void shouldAcceptARedisUrlAsStore() {
    assertThat(read("sessions", "--store", "rediss://a:1/2").properties())
        .containsOnly(
            Map.entry("holdfast.store", "redis"),
            Map.entry("quarkus.redis.hosts", "rediss://a:1/2"));
  }

  /**
   * The environment may configure a command while the option is a URL, or the reverse. A URL and a
   * command exclude each other, and the configured transport belongs to the other server.
   */
  @ParameterizedTest
  @CsvSource({
    "https://a/mcp, https://a/mcp, ''",
    "npx -y server, '', npx -y server",
  })
  void shouldOverrideUrlCommandAndTransportWithAnUpstream(
      String upstream, String url, String command) {
    assertThat(read("serve", "--upstream", upstream).properties())
        .containsOnly(
            Map.entry("holdfast.upstream.url", url),
            Map.entry("holdfast.upstream.command", command),
            Map.entry("holdfast.upstream.transport", "auto"));
  }

  @Test
  void shouldKeepTheTransportGivenWithTheUpstream() {
    assertThat(read("serve", "--transport", "sse", "--upstream", "http://a/sse").properties())
        .containsEntry("holdfast.upstream.transport", "sse");
  }

  /** Before, the parser took each of these values for a command. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--transport stdio",
        "--transport=stdio",
        "serve --transport stdio",
      })
  void shouldAcceptTheNameOfACommandAsAValue(String words) {
    assertThat(read(words.split(" ")).properties())
        .containsEntry("holdfast.upstream.transport", "stdio");
    assertThat(read("--host=stdio").properties()).containsEntry("quarkus.http.host", "stdio");
    assertThat(read("--upstream", "key", "--port", "1").properties())
        .containsEntry("holdfast.upstream.command", "key")
        .containsEntry("quarkus.http.port", "1");
    assertThat(read("--upstream", "key", "--transport", "stdio")).isInstanceOf(Command.Serve.class);
  }

  @Test
  void shouldQuoteTheArgumentsOfACommand() {
    Command stdio = read("stdio", "--", "node", "my server.js", "--port", "it's");

    assertThat(stdio.properties())
        .containsEntry("holdfast.upstream.command", "'node' 'my server.js' '--port' 'it'\\''s'")
        .containsEntry("holdfast.upstream.transport", "auto");
  }

  @Test
  void shouldAcceptStdioWithAUrlOrWithNothing() {
    assertThat(read("stdio", "--url", "http://a/mcp").properties())
        .containsEntry("holdfast.upstream.url", "http://a/mcp")
        .containsEntry("holdfast.upstream.transport", "auto");
    assertThat(read("stdio")).isEqualTo(new Command.Stdio(Map.of(), true));
    assertThat(read("stdio", "--no-browser", "--client-id", "a"))
        .isEqualTo(new Command.Stdio(Map.of("holdfast.upstream.token.client-id", "a"), false));
  }

  @Test
  void shouldReadCallsAndStreams() {
    String id = SESSION.value();

    assertThat(read("calls", "--state", "failed", "--tool", "t", "--older-than", "2d", "--json"))
        .isEqualTo(
            new Command.Calls(
                Map.of(),
                new CallFilter(CallState.FAILED, "t", null, null, Duration.ofDays(2)),
                true));
    StreamRef call = new StreamRef(new LogKey(SESSION.value()), "abc");
    assertThat(read("result", id + "_abc", "--wait"))
        .isEqualTo(new Command.Result(Map.of(), call, true, false));
    assertThat(read("cancel", id + "_abc")).isEqualTo(new Command.Cancel(Map.of(), call, false));
    assertThat(read("tail", id))
        .isEqualTo(new Command.Tail(Map.of(), SESSION.value(), null, Position.START, false));
    assertThat(read("tail", id, "abc", "--json"))
        .isEqualTo(new Command.Tail(Map.of(), SESSION.value(), "abc", Position.START, true));
    assertThat(read("tail", id, "--from", "abc_12-3"))
        .isEqualTo(new Command.Tail(Map.of(), SESSION.value(), "abc", new Position(12, 3), false));
    assertThat(read("tail", id, "--from", id + "_m_12-3"))
        .isEqualTo(new Command.Tail(Map.of(), SESSION.value(), "m", new Position(12, 3), false));
  }

  @Test
  void shouldReadTheOtherCommands() {
    assertThat(read("doctor", "--json")).isEqualTo(new Command.Doctor(Map.of(), true));
    assertThat(read("doctor", "--live")).isEqualTo(new Command.Live(9000));
    assertThat(read("sessions")).isEqualTo(new Command.Sessions(Map.of(), false));
    assertThat(read("streams")).isEqualTo(new Command.Streams(Map.of(), null, false));
    assertThat(read("streams", SESSION.value()))
        .isEqualTo(new Command.Streams(Map.of(), SESSION.value(), false));
    assertThat(read("purge", "--expired"))
        .isEqualTo(new Command.Purge(Map.of(), null, false, false));
    assertThat(read("purge", "--all", "--yes"))
        .isEqualTo(new Command.Purge(Map.of(), null, true, false));
    assertThat(read("purge", SESSION.value()))
        .isEqualTo(new Command.Purge(Map.of(), SESSION.value(), false, false));
  }

  @ParameterizedTest
  @CsvSource({
    "frobnicate, There is no command or argument frobnicate.",
    "sesions, Did you mean sessions?",
    "serve --prot 1, There is no option --prot.",
    "--port 8080 sessions, --port must come after the command",
    "serve --port 65536, '--port must be 0 to 65535, not 65536'",
    "serve --port x, --port",
    "serve --transport smoke, '--transport must be one of [auto, streamable-http, sse, stdio], not"
        + " smoke'",
    "serve --store disk, '--store must be memory, redis or a redis:// URL'",
    "serve --upstream ftp://a, '--upstream must begin with http:// or https://'",
    "doctor --upstream ws://a, '--upstream must begin with http:// or https://'",
    "stdio --url ftp://a, '--url must begin with http:// or https://'",
    "stdio --url http://a -- npx, --url and COMMAND exclude each other",
    "sessions --wrong, --wrong",
    "tail, SESSION",
    "calls --state gone, '--state must be running, waiting, finished, failed or cancelled'",
    "calls --older-than 10, '--older-than must be a number with s, m, h or d'",
    "result, CALL is missing",
    "cancel abc, CALL must be <session>_<stream>",
    "tail short, SESSION must be the first 6 to 43 characters of a session id",
    "purge, 'exactly one of SESSION, --expired and --all is required'",
    "purge --all --expired, 'exactly one of SESSION, --expired and --all is required'",
    "purge --all, confirm it with --yes",
  })
  void shouldExplainUsageErrors(String words, String why) {
    Command.Print error = printed(words.split(" "));

    assertThat(error.code()).isEqualTo(ExitCode.USAGE);
    assertThat(error.text()).contains(why).contains(" --help' shows what there is.");
    assertThat(error.text().lines()).hasSizeLessThanOrEqualTo(2);
  }

  @Test
  void shouldNotQuoteAnInvalidSessionId() {
    assertThat(printed("tail", "nearly.a.session.id").text()).doesNotContain("nearly");
  }

  @ParameterizedTest
  @CsvSource({
    "stdio, --url, ftp://me:secret@host/mcp",
    "serve, --store, http://me:secret@host",
    "serve, --upstream, https://me:secret@[host",
    "serve, --upstream, https://me:secret word@host",
    "doctor, --upstream, https://me:secret/word@[host",
  })
  void shouldNotPrintPasswordsOfUrls(String command, String option, String url) {
    assertThat(printed(command, option, url).text())
        .contains(option + " must be")
        .doesNotContain("secret", "word@");
  }

  /** The parser quotes what it does not know. */
  @Test
  void shouldPrintUnknownOptionsSafely() {
    assertThat(printed("serve", "--urk=https://me:secret@host/\u009b2J").text())
        .contains("--urk=https://***@host/\\u009b2J");
  }

  @Test
  void shouldRefuseAnEventOfAnotherStream() {
    assertThat(printed("tail", SESSION.value(), "abc", "--from", "g_1-1").text())
        .contains("--from is an event of stream g, not abc");
    String other = SessionId.random().value();
    assertThat(printed("tail", SESSION.value(), "--from", other + "_m_1-1").text())
        .contains("--from is an event of another session")
        .doesNotContain(other);
    assertThat(printed("tail", SESSION.value(), "--from", "1").text())
        .contains("--from is not an event id");
  }

  @Test
  void shouldUnderstandHelpAsACommand() {
    assertThat(printed("help")).isEqualTo(printed("--help"));
    assertThat(printed("help", "doctor")).isEqualTo(printed("doctor", "--help"));
  }

  @Test
  void shouldPrintHelp() {
    Command.Print help = printed("--help");

    assertThat(help.code()).isEqualTo(ExitCode.SUCCESS);
    assertThat(help.text())
        .contains("serve", "stdio", "doctor", "sessions", "streams", "tail", "purge")
        .contains("3", "the store cannot be reached");
    assertThat(printed("tail", "-h").text()).contains("--from");
  }

  @Test
  void shouldPrintTheVersion() {
    Command.Print version = printed("--version");

    assertThat(version.code()).isEqualTo(ExitCode.SUCCESS);
    assertThat(version.text()).matches("holdfast \\d+\\.\\d+\\.\\d+\\S*\n");
  }

  @Test
  void shouldReadTheCommandsOfTapes() {
    Path tape = Path.of("a.jsonl");
    Map<String, String> withoutServer =
        Map.of(
            "holdfast.upstream.url", "",
            "holdfast.upstream.command", "",
            "holdfast.upstream.transport", "auto",
            "holdfast.record.dir", "");

    assertThat(read("replay", "a.jsonl"))
        .isEqualTo(new Command.Replay(withoutServer, tape, 1, true));
    assertThat(read("replay", "--speed", "0.5", "--no-wait", "a.jsonl"))
        .isEqualTo(new Command.Replay(withoutServer, tape, 0.5, false));
    assertThat(read("verify", "a.jsonl", "--ignore", "/a", "--ignore", "/b", "--json"))
        .isEqualTo(new Command.Verify(Map.of(), tape, List.of("/a", "/b"), true));
    assertThat(read("show", "a.jsonl")).isEqualTo(new Command.Show(tape, false));
    assertThat(printed("replay").text()).startsWith("TAPE is missing");
    for (String speed : List.of("0", "-1", "1e9", "NaN", "fast")) {
      assertThat(printed("replay", "--speed=" + speed, "a").text())
          .startsWith("--speed must be a positive number");
    }
  }
}
