package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.Position;
import dev.holdfast.session.SessionId;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What words on the command line come to mean. */
class CommandLineReaderTest {

  private static final SessionId SESSION = SessionId.random();

  private static Command wanted(String... words) {
    ParsedCommandLine reading = CommandLineReader.read(words);
    assertThat(reading).isInstanceOf(ParsedCommandLine.Wanted.class);
    return ((ParsedCommandLine.Wanted) reading).command();
  }

  private static ParsedCommandLine.Answered answered(String... words) {
    ParsedCommandLine reading = CommandLineReader.read(words);
    assertThat(reading).isInstanceOf(ParsedCommandLine.Answered.class);
    return (ParsedCommandLine.Answered) reading;
  }

  @Test
  void withoutACommandShouldServe() {
    assertThat(wanted()).isEqualTo(new Command.Serve(Map.of()));
    assertThat(wanted("serve")).isEqualTo(new Command.Serve(Map.of()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "serve"})
  void shouldMakeConfigurationOfOptions(String command) {
    String options = "--host 0.0.0.0 --port 0 --transport sse --store redis";

    Command serve = wanted((command + " " + options).strip().split(" "));

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
  void shouldTakeTheUrlOfARedisForTheStore() {
    assertThat(wanted("sessions", "--store", "rediss://a:1/2").settings())
        .containsOnly(
            Map.entry("holdfast.store", "redis"),
            Map.entry("quarkus.redis.hosts", "rediss://a:1/2"));
  }

  /**
   * An upstream of the other kind may stand in the environment: two would exclude each other. What
   * that one speaks says nothing of this one.
   */
  @ParameterizedTest
  @CsvSource({
    "https://a/mcp, https://a/mcp, ''",
    "npx -y server, '', npx -y server",
  })
  void shouldTakeAnUpstreamForWhatItIsAndForgetTheOther(
      String upstream, String url, String command) {
    assertThat(wanted("serve", "--upstream", upstream).settings())
        .containsOnly(
            Map.entry("holdfast.upstream.url", url),
            Map.entry("holdfast.upstream.command", command),
            Map.entry("holdfast.upstream.transport", "auto"));
  }

  @Test
  void shouldTakeTheTransportThatStandsBesideTheUpstream() {
    assertThat(wanted("serve", "--transport", "sse", "--upstream", "http://a/sse").settings())
        .containsEntry("holdfast.upstream.transport", "sse");
  }

  @Test
  void shouldKeepTheWordsOfACommandApart() {
    Command stdio = wanted("stdio", "--", "node", "my server.js", "--port", "it's");

    assertThat(stdio.settings())
        .containsEntry("holdfast.upstream.command", "'node' 'my server.js' '--port' 'it'\\''s'")
        .containsEntry("holdfast.upstream.transport", "auto");
  }

  @Test
  void shouldTakeStdioWithAUrlOrWithNothing() {
    assertThat(wanted("stdio", "--url", "http://a/mcp").settings())
        .containsEntry("holdfast.upstream.url", "http://a/mcp")
        .containsEntry("holdfast.upstream.transport", "auto");
    assertThat(wanted("stdio")).isEqualTo(new Command.Stdio(Map.of()));
  }

  @Test
  void shouldTailTheStreamThatIsNamedIfAnyIs() {
    String id = SESSION.value();

    assertThat(wanted("tail", id))
        .isEqualTo(new Command.Tail(Map.of(), SESSION, null, Position.START, false));
    assertThat(wanted("tail", id, "abc", "--json"))
        .isEqualTo(new Command.Tail(Map.of(), SESSION, "abc", Position.START, true));
    assertThat(wanted("tail", id, "--from", "abc_12-3"))
        .isEqualTo(new Command.Tail(Map.of(), SESSION, "abc", new Position(12, 3), false));
    assertThat(wanted("tail", id, "--from", id + "_m_12-3"))
        .isEqualTo(new Command.Tail(Map.of(), SESSION, "m", new Position(12, 3), false));
  }

  @Test
  void shouldReadTheOtherCommands() {
    assertThat(wanted("doctor", "--json")).isEqualTo(new Command.Doctor(Map.of(), true));
    assertThat(wanted("sessions")).isEqualTo(new Command.Sessions(Map.of(), false));
    assertThat(wanted("streams")).isEqualTo(new Command.Streams(Map.of(), null, false));
    assertThat(wanted("streams", SESSION.value()))
        .isEqualTo(new Command.Streams(Map.of(), SESSION, false));
    assertThat(wanted("purge", "--expired"))
        .isEqualTo(new Command.Purge(Map.of(), new Command.Scope.Expired(), false));
    assertThat(wanted("purge", "--all", "--yes"))
        .isEqualTo(new Command.Purge(Map.of(), new Command.Scope.All(), false));
    assertThat(wanted("purge", SESSION.value()))
        .isEqualTo(new Command.Purge(Map.of(), new Command.Scope.One(SESSION), false));
  }

  @ParameterizedTest
  @CsvSource({
    "frobnicate, frobnicate",
    "--port 8080 sessions, --port stands behind the command",
    "serve --port 65536, '--port must be 0 to 65535, not 65536'",
    "serve --port x, --port",
    "serve --transport smoke, '--transport must be one of [auto, streamable-http, sse, stdio], not smoke'",
    "serve --store disk, '--store must be memory, redis or a redis:// URL, not disk'",
    "stdio --url ftp://a, '--url must begin with http:// or https://, not ftp://a'",
    "stdio --url http://a -- npx, --url and a COMMAND exclude each other",
    "sessions --wrong, --wrong",
    "tail, SESSION",
    "tail short, SESSION is not an id of 43 characters",
    "purge, 'one of SESSION, --expired and --all is wanted'",
    "purge --all --expired, 'one of SESSION, --expired and --all is wanted'",
    "purge --all, say --yes as well",
  })
  void shouldSayWhatIsWrong(String words, String why) {
    ParsedCommandLine.Answered answered = answered(words.split(" "));

    assertThat(answered.code()).isEqualTo(ExitCode.USAGE);
    assertThat(answered.text()).contains(why).contains("Usage: holdfast");
  }

  @Test
  void shouldNotQuoteWhatMayBeTheSecretOfAClient() {
    assertThat(answered("tail", "nearly-a-session-id").text()).doesNotContain("nearly");
  }

  @Test
  void shouldRefuseAnEventOfAnotherStream() {
    assertThat(answered("tail", SESSION.value(), "abc", "--from", "g_1-1").text())
        .contains("--from is an event of g and not of abc");
    String other = SessionId.random().value();
    assertThat(answered("tail", SESSION.value(), "--from", other + "_m_1-1").text())
        .contains("--from is an event of another session")
        .doesNotContain(other);
    assertThat(answered("tail", SESSION.value(), "--from", "1").text())
        .contains("--from is not an event id");
  }

  @Test
  void shouldHelp() {
    ParsedCommandLine.Answered help = answered("--help");

    assertThat(help.code()).isEqualTo(ExitCode.FINE);
    assertThat(help.text())
        .contains("serve", "stdio", "doctor", "sessions", "streams", "tail", "purge")
        .contains("3", "the store cannot be reached");
    assertThat(answered("tail", "-h").text()).contains("--from");
  }

  @Test
  void shouldSayItsVersion() {
    ParsedCommandLine.Answered version = answered("--version");

    assertThat(version.code()).isEqualTo(ExitCode.FINE);
    assertThat(version.text()).matches("holdfast \\d+\\.\\d+\\.\\d+\\S*\n");
  }
}
