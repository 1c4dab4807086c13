package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.JavaProject;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ServerProcess;
import dev.holdfast.testing.ToolRequest;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * MCP servers on Java libraries, as programs of their own. Behind a gateway, the client of the Java
 * SDK sees what it sees directly.
 */
@Timeout(180)
class JavaServersIT {
  private static final Pattern READY =
      Pattern.compile("istening on:? (?:http://[^:]+:)?(\\d+)", Pattern.CASE_INSENSITIVE);
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int STEPS = 10;
  private static final String UNKNOWN = "the outcome of the request is unknown";

  /** A library, and the transport of the server. */
  enum Server {
    SDK_2_0_1("sdk-server", "2.0.1", "http", "/mcp"),
    SDK_2_1_0("sdk-server", "2.1.0", "http", "/mcp"),
    SDK_2_1_0_SSE("sdk-server", "2.1.0", "sse", "/sse"),
    SDK_2_1_0_STDIO("sdk-server", "2.1.0", "stdio", ""),
    SPRING_AI("spring-server", "2.0.1", "streamable", "/mcp"),
    SPRING_AI_STATELESS("spring-server", "2.0.1", "stateless", "/mcp"),
    SPRING_AI_SSE("spring-server", "2.0.1", "sse", "/sse"),
    SPRING_AI_STDIO("spring-server", "2.0.1", "stdio", ""),
    QUARKUS("quarkus-server", "1.13.0", "http", "/mcp"),
    QUARKUS_SSE("quarkus-server", "1.13.0", "sse", "/mcp/sse"),
    QUARKUS_STDIO("quarkus-server", "1.10.1", "stdio", ""),
    KOTLIN("kotlin-server", "0.16.0", "http", "/mcp"),
    /**
     * The client of the Java SDK cannot use it directly: it resolves {@code ?sessionId=…} wrongly.
     */
    KOTLIN_SSE("kotlin-server", "0.16.0", "sse", "/sse"),
    KOTLIN_STDIO("kotlin-server", "0.16.0", "stdio", "");

    private final String project;
    private final String version;
    private final String transport;
    private final String path;

    Server(String project, String version, String transport, String path) {
      this.project = project;
      this.version = version;
      this.transport = transport;
      this.path = path;
    }

    private List<String> command() {
      String[] properties =
          this == QUARKUS_STDIO ? new String[] {"-Dtransport=stdio"} : new String[0];
      return JavaProject.build(project, version, properties).command(transport);
    }

    private boolean isProgram() {
      return path.isEmpty();
    }

    /** How a client reaches it, directly. */
    private String clientTransport() {
      return isProgram() || path.endsWith("sse") ? transport : "http";
    }

    /**
     * Whether the server forgets a session when it cannot write to a stream of it. Version 2.0 of
     * the SDK does, in {@code HttpServletStreamableMcpSessionTransport.sendMessage}.
     */
    private boolean mayForgetSessions() {
      return this == SDK_2_0_1 || this == SPRING_AI;
    }

    /** Stateless servers of Spring AI have no tools that tell or ask the client something. */
    private String[] steps() {
      return this == SPRING_AI_STATELESS
          ? new String[] {"tools", "text"}
          : new String[] {"tools", "text", "count:4:250", "ask", "count:1:3000"};
    }
  }

  private static ClientProgram client(String transport, String where, String... steps) {
    return ClientProgram.start(
        JavaProject.build("sdk-client", "2.1.0"), transport, where, LIMIT, steps);
  }

  /** A server that runs, or will run as the child of a gateway. */
  private static final class RunningServer implements AutoCloseable {
    private final Server server;
    private final @Nullable ServerProcess process;

    RunningServer(Server server) {
      this.server = server;
      this.process =
          server.isProgram()
              ? null
              : ServerProcess.start(new ProcessBuilder(server.command()), READY);
    }

    URI url() {
      return URI.create("http://127.0.0.1:" + Objects.requireNonNull(process).port() + server.path);
    }

    ClientProgram startDirectClient(String... steps) {
      String where = server.isProgram() ? String.join("\t", server.command()) : url().toString();
      return client(server.clientTransport(), where, steps);
    }

    Map<String, String> settings() {
      return server.isProgram()
          ? Map.of(
              "holdfast.upstream.command",
              server.command().stream()
                  .map(word -> "'" + word + "'")
                  .collect(Collectors.joining(" ")))
          : Map.of("holdfast.upstream.url", url().toString());
    }

    @Override
    public void close() {
      if (process != null) {
        process.close();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SDK_2_1_0", "SDK_2_1_0_SSE"})
  void shouldServeTheSameAsWithoutAGateway(Server server) {
    servesTheSameAsWithoutAGateway(server);
  }

  @ParameterizedTest
  @Tag("java")
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"SDK_2_1_0", "SDK_2_1_0_SSE", "KOTLIN_SSE"})
  void shouldServeTheSameAsWithoutAGatewayWithAnyLibrary(Server server) {
    servesTheSameAsWithoutAGateway(server);
  }

  private static void servesTheSameAsWithoutAGateway(Server server) {
    try (RunningServer running = new RunningServer(server);
        Gateway gateway = Gateway.start(running.settings());
        ClientProgram straight = running.startDirectClient(server.steps());
        ClientProgram through = client("http", gateway.url().toString(), server.steps())) {
      List<String> expected = straight.end();

      assertThat(expected).as("directly").noneMatch(Outcome::isError);
      assertThat(through.end()).as(gateway.output()).containsExactlyInAnyOrderElementsOf(expected);
    }
  }

  /** None of these servers can resume a stream. The gateway says so before the client gives up. */
  @ParameterizedTest
  @Tag("java")
  @EnumSource(
      mode = EnumSource.Mode.MATCH_NONE,
      names = {".*_STDIO", ".*_STATELESS"})
  void shouldSayThatTheOutcomeOfACallIsUnknownWhenItsServerIsCutOff(Server server) {
    try (RunningServer running = new RunningServer(server);
        FaultProxy network = FaultProxy.inFrontOf(running.url());
        Gateway gateway = Gateway.start(Map.of("holdfast.upstream.url", network.url().toString()));
        ClientProgram program =
            client("http", gateway.url().toString(), "count:" + STEPS + ":300", "text")) {
      program.awaitLine(Outcome.progress(2));
      network.cutAll();

      List<String> lines = program.end();
      assertThat(lines)
          .as(gateway.output())
          .filteredOn(Outcome::isError)
          .first(STRING)
          .contains("McpError", UNKNOWN);
      if (!server.mayForgetSessions() && !server.path.endsWith("sse")) {
        assertThat(Outcome.of(lines, STEPS)).as(gateway.output()).isEqualTo(Outcome.ERROR);
      }
    }
  }

  /** Tools of {@code KOTLIN} do not know their request: nothing tells that one has begun. */
  @ParameterizedTest
  @Tag("java")
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"SPRING_AI_STATELESS", "KOTLIN"})
  void shouldFinishACallOfAReplicaThatStops(Server server) throws Exception {
    Transcript seen = callWhile(server, Gateway::terminate);

    assertThat(seen.results()).as(seen.toString()).isEqualTo(1);
    assertThat(seen.progress()).isEqualTo(IntStream.rangeClosed(1, STEPS).boxed().toList());
  }

  @ParameterizedTest
  @Tag("java")
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"SPRING_AI_STATELESS", "KOTLIN"})
  void shouldSayThatTheOutcomeOfACallOfAKilledReplicaIsUnknown(Server server) throws Exception {
    Transcript seen = callWhile(server, Gateway::kill);

    boolean isSessionLost = seen.toString().contains("connected: 404");
    if (!server.mayForgetSessions() || !isSessionLost) {
      assertThat(seen.errors()).as(seen.toString()).hasSize(1);
      assertThat(seen.errors().getFirst()).contains(UNKNOWN);
    }
  }

  /** The client resumes at the other replica what the first one has begun. */
  private static Transcript callWhile(Server server, Consumer<Gateway> ending) throws Exception {
    Random random = new Random(1);
    Transcript seen = new Transcript();
    try (RunningServer running = new RunningServer(server);
        RedisFixture redis = RedisFixture.start();
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      Map<String, String> settings = new HashMap<>(running.settings());
      settings.putAll(redis.gatewaySettings());
      List<Gateway> replicas = Gateway.startPair(settings);
      try (Gateway first = replicas.getFirst();
          Gateway second = replicas.getLast()) {
        FollowingClient client = new FollowingClient(http, List.of(first.url()), random);
        client.begin(
            ToolRequest.count(1, STEPS, 300), random, seen, soFar -> soFar.progress().size() >= 2);
        ending.accept(first);

        client.at(List.of(second.url())).resume(seen, random);
      }
    }
    return seen;
  }
}
