package dev.holdfast.upstream.stdio;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.channel.Channel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The begin of sessions, and their bound. */
@Timeout(60)
class StdioUpstreamTest {

  @TempDir Path directory;
  private StdioUpstream upstream;

  private ShellServer server() {
    return new ShellServer(directory);
  }

  @BeforeEach
  void start() {
    upstream = server().upstream();
  }

  @AfterEach
  void stop() {
    upstream.close();
    assertThat(upstream.channels()).isZero();
  }

  @Test
  void shouldOpenASession() {
    upstream = server().with("ON_INITIALIZE", "log a; welcome").upstream();

    Handshake handshake = StdioClient.initialize(upstream);

    UpstreamLink link = Objects.requireNonNull(handshake.link());
    assertThat(link.protocolVersion()).isEqualTo("2025-11-25");
    assertThat(link.session()).isNotEmpty();
    assertThat(handshake.before())
        .singleElement()
        .satisfies(message ->
            assertThat(StdioClient.text(message.payload())).isEqualTo(StdioClient.logged("a")));
    assertThat(StdioClient.text(handshake.response())).contains("\"id\":0", "serverInfo");
  }

  @Test
  void shouldStartProcessPerSession() {
    String first = StdioClient.open(upstream).ask("1", "reply $$");
    String second = StdioClient.open(upstream).ask("1", "reply $$");

    assertThat(first).isNotEqualTo(second);
    assertThat(upstream.channels()).isEqualTo(2);
  }

  private static Message.Request initialize() {
    return (Message.Request) ((Body.Single) StdioClient.body(StdioClient.INITIALIZE)).message();
  }

  @Test
  void shouldReopenSessionWithAnotherProcess() {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      ShellServer server = server().respawn();
      upstream = server.upstream();
      StdioClient client = StdioClient.open(upstream);
      String first = client.ask("1", "reply $$");
      client.tell("exit");
      await().until(() -> upstream.channels() == 0);
      assertGone(upstream.attach(client.link()));

      upstream.reopen(client.link(), initialize(), true);

      StdioClient again = new StdioClient(client.link(), upstream.attach(client.link()));
      assertThat(again.ask("1", "reply $$")).contains("result").isNotEqualTo(first);
      assertThat(server.received())
          .filteredOn(line -> line.contains("initialize"))
          .containsExactly(
              StdioClient.INITIALIZE,
              StdioClient.INITIALIZE,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
      log.await("lost session reopened upstream=");
    }
  }

  /** Guards against a race: the lost process may still be ending when the new one has started. */
  @Test
  void shouldKeepNewProcessWhenOldOneEnds() {
    upstream = server().respawn().with("AT_END", "sleep 0.2").upstream();
    StdioClient client = StdioClient.open(upstream);
    client.session().end();

    upstream.reopen(client.link(), initialize(), false);

    await().until(() -> upstream.channels() == 1);
    StdioClient again = new StdioClient(client.link(), upstream.attach(client.link()));
    assertThat(again.ask("1", "reply 1")).contains("result");
  }

  @Test
  void shouldNotReopenSessionInAnotherVersion() {
    upstream = server().respawn().upstream();
    UpstreamLink older = new UpstreamLink("s", "2025-06-18");

    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> upstream.reopen(older, initialize(), false));

    await().until(() -> upstream.channels() == 0);
    assertGone(upstream.attach(older));
  }

  @Test
  void shouldUseConfiguredDirectoryAndEnvironment() {
    upstream = server().with("API_KEY", "a b").upstream();
    StdioClient client = StdioClient.open(upstream);

    assertThat(client.ask("1", "reply \"\\\"$API_KEY\\\"\"")).contains("\"a b\"");
    assertThat(client.ask("2", "reply \"\\\"$(pwd -P)\\\"\"")).contains(directory.toString());
    // The build sets this variable. A server needs PATH to find programs.
    assertThat(client.ask("3", "reply \"\\\"${JAVA_HOME:-none}\\\"\"")).contains("none");
    assertThat(client.ask("4", "reply \"\\\"$PATH\\\"\"")).contains(System.getenv("PATH"));
  }

  @Test
  void shouldEndProcessThatRefusesInitialize() {
    upstream =
        server()
            .with(
                "ON_INITIALIZE",
                "say '{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":1,\"message\":\"no\"}}'")
            .upstream();

    Handshake handshake = StdioClient.initialize(upstream);

    assertThat(handshake.link()).isNull();
    assertThat(StdioClient.text(handshake.response())).contains("\"no\"");
    await().until(() -> upstream.channels() == 0);
  }

  @ParameterizedTest
  @CsvSource({
    "exit 1, Broken",
    "reply '{}', Broken",
    "'', TimedOut",
    "while :; do log a; done, Broken",
    "i=0; while [ $i -lt 10000 ]; do printf 1234567890123456; done, Broken"
  })
  void shouldEndProcessThatOpensNoSession(String instead, String failure) {
    upstream =
        server()
            .firstByteTimeout(Duration.ofSeconds(failure.equals("TimedOut") ? 1 : 20))
            .stopGrace(Duration.ofMillis(100))
            .with("ON_INITIALIZE", instead.isEmpty() ? ":" : instead)
            .upstream();

    assertThatThrownBy(() -> StdioClient.initialize(upstream))
        .isInstanceOf(UpstreamException.class)
        .extracting(thrown -> thrown.getClass().getSimpleName())
        .isEqualTo(failure);
    await().until(() -> upstream.channels() == 0);
  }

  @Test
  void shouldReportMissingProgram() {
    upstream = server().maxProcesses(1).runBy("/no/such/program").upstream();

    for (int i = 0; i < 3; i++) {
      assertThatExceptionOfType(UpstreamException.Unreachable.class)
          .isThrownBy(() -> StdioClient.initialize(upstream));
    }
    assertThat(upstream.channels()).isZero();
  }

  /** Before, the crash of one server could hide that of another one. */
  @Test
  void shouldLogTheFailureOfEachServer() {
    try (LoggedLines log = new LoggedLines(ChildProcess.class)) {
      for (int i = 0; i < 20; i++) {
        String command = i % 2 == 0 ? "sh -c 'exit 3'" : "/no/such/program";
        StdioUpstreamSettings settings =
            new StdioUpstreamSettings(
                CommandLine.parse(command),
                Map.of(),
                directory,
                Duration.ofSeconds(1),
                new Channel.Settings(
                    "failing" + i,
                    1,
                    1,
                    Duration.ofSeconds(20),
                    Duration.ofSeconds(20),
                    1 << 20,
                    false));
        try (StdioUpstream failing = new StdioUpstream(settings, new ByteBudget(1 << 26))) {
          assertThatExceptionOfType(UpstreamException.class)
              .isThrownBy(() -> StdioClient.initialize(failing));
        }
      }

      for (int i = 0; i < 20; i += 2) {
        log.await("process exited by itself upstream=failing" + i + " ");
        log.await("process cannot start upstream=failing" + (i + 1) + " ");
      }
    }
  }

  @Test
  void shouldStartAtMostMaxProcesses() {
    upstream = server().maxProcesses(2).upstream();
    StdioClient first = StdioClient.open(upstream);
    StdioClient second = StdioClient.open(upstream);

    assertThatExceptionOfType(UpstreamException.Busy.class)
        .isThrownBy(() -> StdioClient.initialize(upstream));
    assertThat(second.ask("1", "reply '{}'")).contains("\"result\"");

    first.session().end();
    await()
        .ignoreException(UpstreamException.Busy.class)
        .untilAsserted(() -> assertThat(StdioClient.open(upstream).link()).isNotNull());
  }

  /** One client took all processes. */
  @Test
  void shouldLeaveProcessesToOtherOpeners() {
    upstream = server().maxProcesses(4).maxProcessesPerClient(2).upstream();
    UpstreamLink first = openBy("greedy");
    openBy("greedy");

    assertThatExceptionOfType(UpstreamException.Busy.class).isThrownBy(() -> openBy("greedy"));
    openBy("other");
    StdioClient.open(upstream);
    assertThatExceptionOfType(UpstreamException.Busy.class).isThrownBy(() -> openBy("third"));

    upstream.attach(first).end();
    await()
        .ignoreException(UpstreamException.Busy.class)
        .untilAsserted(() -> assertThat(openBy("greedy")).isNotNull());
  }

  private UpstreamLink openBy(String opener) {
    Body.Single initialize = (Body.Single) StdioClient.body(StdioClient.INITIALIZE);
    return requireNonNull(
        upstream
            .initialize(
                (Message.Request) initialize.message(), Caller.UNKNOWN.at(opener, opener, ""))
            .link());
  }

  @Test
  void shouldKnowNoSessionOfAnotherReplica() {
    assertGone(upstream.attach(new UpstreamLink("another", "2025-11-25")));
    assertGone(upstream.attach(new UpstreamLink(null, "2025-11-25")));
  }

  static void assertGone(UpstreamSession session) {
    assertThatExceptionOfType(UpstreamException.SessionGone.class)
        .isThrownBy(
            () -> session.request(StdioClient.body(ShellServer.request("1", "tools/call", ""))));
    assertThatExceptionOfType(UpstreamException.SessionGone.class)
        .isThrownBy(() -> session.send(StdioClient.body(ShellServer.notification(""))));
    assertThatExceptionOfType(UpstreamException.SessionGone.class)
        .isThrownBy(() -> session.listen(null));
    session.end();
  }

  @Test
  void shouldStartNoProcessWhenClosed() {
    StdioClient client = StdioClient.open(upstream);
    MessageSource call = client.call("1", "");

    upstream.close();

    assertThatExceptionOfType(UpstreamException.Broken.class).isThrownBy(call::take);
    assertGone(client.session());
    assertThatExceptionOfType(UpstreamException.Unreachable.class)
        .isThrownBy(() -> StdioClient.initialize(upstream));
  }

  @Test
  void shouldEndProcessWhenClosedDuringHandshake() {
    upstream = server().with("ON_INITIALIZE", ":").upstream();
    CompletableFuture<Handshake> opening =
        CompletableFuture.supplyAsync(() -> StdioClient.initialize(upstream));
    await().until(() -> upstream.channels() == 1);

    upstream.close();

    assertThat(upstream.channels()).isZero();
    assertThatThrownBy(opening::join).hasCauseInstanceOf(UpstreamException.class);
  }

  @Test
  void shouldRefuseInvalidSettings() {
    assertRefused(List.of(), Map.of(), null, "command names no program");
    assertRefused(List.of("", "a"), Map.of(), null, "command names no program");
    assertRefused(List.of("a\0"), Map.of(), null, "NUL");
    assertRefused(List.of("a"), Map.of("A=B", "c"), null, "is not the name of a variable");
    assertRefused(List.of("a"), Map.of("A", "secret\0"), null, "the variable A");
    assertRefused(List.of("a"), Map.of(), directory.resolve("none"), "directory does not exist");
  }

  private static void assertRefused(
      List<String> command, Map<String, String> environment, @Nullable Path directory, String why) {
    assertThatThrownBy(() ->
            new StdioUpstreamSettings(
                command,
                environment,
                directory,
                Duration.ofSeconds(1),
                new Channel.Settings(
                    "x", 1, 1, Duration.ofSeconds(1), Duration.ofSeconds(1), 1000, false)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why)
        .message()
        .doesNotContain("secret");
  }

  @Test
  void shouldKeepSecretsOutOfLogs() {
    StdioUpstreamSettings settings =
        new StdioUpstreamSettings(
            List.of("npx", "--token=secret"),
            Map.of("KEY", "secret"),
            null,
            Duration.ofSeconds(1),
            new Channel.Settings(
                "x", 1, 1, Duration.ofSeconds(1), Duration.ofSeconds(1), 1000, false));

    assertThat(settings.toString()).contains("npx").doesNotContain("secret");
  }
}
