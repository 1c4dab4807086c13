package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Exchange;
import dev.holdfast.testing.Fault;
import dev.holdfast.testing.Fault.Trigger;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.JavaProject;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The MCP clients of Java libraries, unchanged, as programs of their own. Each does the same
 * through a gateway as directly; and what it sees when something breaks is what docs/clients.md
 * says.
 */
@Timeout(180)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class JavaClientsIT {
  private static final int STEPS = 10;
  private static final String COUNT = "count:" + STEPS + ":300";
  private static final String[] CALLS = Collections.nCopies(8, COUNT).toArray(String[]::new);
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration SHORT_LIMIT = Duration.ofSeconds(8);

  private static NodeFixture server;
  private static NodeFixture direct;
  private static NodeFixture directSse;
  private static RedisFixture redis;
  private static Gateway gateway;

  /** Closes connections after a second, unless their clients await something. */
  private static Gateway impatient;

  /** A library, and what it sees over Streamable HTTP when the connection of a call breaks. */
  enum Client {
    SDK_1_1_5("sdk-client", "1.1.5", "", Outcome.LIMIT),
    SDK_2_0_1("sdk-client", "2.0.1", "", Outcome.LIMIT),
    SDK_2_1_0("sdk-client", "2.1.0", "", Outcome.LIMIT),
    SPRING_AI("spring-client", "2.0.1", "", Outcome.LIMIT),
    SPRING_AI_WITH_SDK_2_1_0("spring-client", "2.0.1", "-Dmcp-sdk.version=2.1.0", Outcome.LIMIT),
    LANGCHAIN4J("langchain4j-client", "1.18.1", "", Outcome.ERROR),
    KOTLIN("kotlin-client", "0.16.0", "", Outcome.ERROR);

    private final String project;
    private final String version;
    private final String property;
    private final Outcome broken;

    Client(String project, String version, String property, Outcome broken) {
      this.project = project;
      this.version = version;
      this.property = property;
      this.broken = broken;
    }

    JavaProject build() {
      return property.isEmpty()
          ? JavaProject.build(project, version)
          : JavaProject.build(project, version, property);
    }

    /** Over HTTP with SSE, only LangChain4j connects again, with a session of its own. */
    Outcome broken(Way way) {
      Outcome overSse = this == LANGCHAIN4J ? Outcome.LIMIT : Outcome.LOST_SESSION;
      return way == Way.HTTP ? broken : overSse;
    }

    /** Over Streamable HTTP, the client of Kotlin reads a stream only when the stream ends. */
    boolean hearsAtOnce(Way way) {
      return this != KOTLIN || way == Way.SSE;
    }

    boolean hasElicitation(Way way) {
      return this != LANGCHAIN4J && hearsAtOnce(way);
    }
  }

  /** A transport, with the path that the gateway has for it. */
  enum Way {
    HTTP("http", "/mcp"),
    SSE("sse", "/sse");

    private final String transport;
    private final String path;

    Way(String transport, String path) {
      this.transport = transport;
      this.path = path;
    }

    /** A server that the client reaches without a gateway. */
    URI direct() {
      return this == HTTP ? direct.url() : directSse.url(path);
    }

    /** Over HTTP with SSE, these clients lose their sessions with their connections. */
    Gateway gateway() {
      return this == HTTP ? impatient : gateway;
    }

    ClientProgram start(Client client, URI base, Duration timeout, String... steps) {
      String url = base.resolve(path).toString();
      return ClientProgram.start(client.build(), transport, url, timeout, steps);
    }
  }

  @BeforeAll
  static void start() {
    server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
    // Java SDKs before 2.1 fail at the retry that it sends otherwise.
    direct = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER, "--resumable", "false");
    directSse = NodeFixture.start(NodeFixture.LEGACY_SERVER);
    redis = RedisFixture.start();
    gateway = Gateway.start(settings(server.url(), redis.gatewaySettings()));
    Map<String, String> second =
        Map.of("holdfast.stream.idle-timeout", "1s", "holdfast.stream.max-lifetime", "1s");
    impatient = Gateway.start(settings(server.url(), second));
  }

  @AfterAll
  static void stop() {
    impatient.close();
    gateway.close();
    redis.close();
    directSse.close();
    direct.close();
    server.close();
  }

  private static Map<String, String> settings(URI upstream, Map<String, String> more) {
    Map<String, String> all = new HashMap<>(more);
    all.put("holdfast.upstream.url", upstream.toString());
    return all;
  }

  @ParameterizedTest
  @EnumSource(names = {"SDK_2_0_1", "SDK_2_1_0"})
  void shouldSeeTheSameAsWithoutAGateway(Client client) {
    for (Way way : Way.values()) {
      seesTheSameAsWithoutAGateway(client, way);
    }
  }

  @ParameterizedTest
  @Tag("java")
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"SDK_2_0_1", "SDK_2_1_0"})
  void shouldSeeTheSameAsWithoutAGatewayWithAnyLibrary(Client client) {
    for (Way way : Way.values()) {
      seesTheSameAsWithoutAGateway(client, way);
    }
  }

  /** Also when a call, or the time between two calls, is silent for longer than a second. */
  private static void seesTheSameAsWithoutAGateway(Client client, Way way) {
    String[] steps =
        Stream.of("tools", "text", "count:4:250", "ask", "count:1:3000", "pause:2000", "text")
            .filter(step -> client.hasElicitation(way) || !step.equals("ask"))
            .toArray(String[]::new);
    try (ClientProgram straight = way.start(client, way.direct(), LIMIT, steps);
        ClientProgram through = way.start(client, way.gateway().url(), LIMIT, steps)) {
      List<String> expected = straight.end();
      List<String> seen = through.end();

      assertThat(expected).as("%s %s directly", client, way).noneMatch(Outcome::isError);
      // The order of progress and result within a client is its own affair.
      assertThat(seen).as("%s %s", client, way).containsExactlyInAnyOrderElementsOf(expected);
      assertThat(seen)
          .containsSubsequence(Outcome.progress(1), "{\"result\":\"counted 4\"}")
          .containsSubsequence(Outcome.progress(1), "{\"result\":\"counted 1\"}");
    }
  }

  /** The client loses its connection in a call, then calls once more. */
  @ParameterizedTest
  @Tag("java")
  @EnumSource
  void shouldSeeThisWhenItsConnectionIsCut(Client client) {
    for (Way way : Way.values()) {
      try (FaultProxy network = FaultProxy.inFrontOf(gateway.url()).plan(JavaClientsIT::cut);
          ClientProgram program = way.start(client, network.url(), SHORT_LIMIT, COUNT, "text")) {
        endsAs(client.broken(way), client, way, program);
      }
    }
  }

  @ParameterizedTest
  @Tag("java")
  @EnumSource
  void shouldKeepItsCallsThroughAGatewayBesideIt(Client client) {
    for (Way way : Way.values()) {
      try (FaultProxy network = FaultProxy.inFrontOf(gateway.url()).plan(JavaClientsIT::cut);
          Gateway beside = Gateway.start(settings(network.url(), Map.of()));
          ClientProgram program = way.start(client, beside.url(), LIMIT, COUNT, "text")) {
        endsAs(Outcome.RESULT, client, way, program);
      }
    }
  }

  /** The replica of the call gets SIGTERM. It stays for the clients that do not resume. */
  @ParameterizedTest
  @Tag("java")
  @EnumSource
  void shouldSeeTheResultWhenItsReplicaIsStopped(Client client) {
    for (Way way : Way.values()) {
      assertThat(callWhile(Gateway::terminate, client, way))
          .as("%s %s", client, way)
          .contains(Outcome.progress(STEPS), "{\"result\":\"counted %d\"}".formatted(STEPS));
    }
  }

  /** One replica after the other is replaced while calls run, which end within drain-timeout. */
  @ParameterizedTest
  @Tag("java")
  @EnumSource
  void shouldSeeEachResultInARollingRestart(Client client) throws InterruptedException {
    Map<String, String> settings = settings(server.url(), redis.gatewaySettings());
    List<Gateway> replicas = new ArrayList<>(Gateway.startPair(settings));
    List<ClientProgram> programs = new ArrayList<>();
    try (RoundRobin balancer = RoundRobin.over(replicas.getFirst().url())) {
      for (Gateway old : List.copyOf(replicas)) {
        replicas.add(Gateway.start(settings));
        balancer.retarget(List.of(old.url()));
        programs.add(Way.HTTP.start(client, balancer.url(), LIMIT, CALLS));
        programs.getLast().awaitLine(Outcome.progress(1));
        replicas.remove(old);
        balancer.retarget(replicas.stream().map(Gateway::url).toList());
        old.terminate();
        assertThat(old.awaitEnd(PATIENCE.toSeconds())).isTrue();
      }

      assertThat(programs)
          .allSatisfy(program ->
              assertThat(program.end())
                  .noneMatch(Outcome::isError)
                  .filteredOn(line -> line.contains("counted"))
                  .hasSize(CALLS.length));
    } finally {
      programs.forEach(ClientProgram::close);
      replicas.forEach(Gateway::close);
    }
  }

  /** The replica of the call gets SIGKILL. Kotlin tells too late when the call has begun. */
  @ParameterizedTest
  @Tag("java")
  @EnumSource
  void shouldSeeThisWhenItsReplicaIsKilled(Client client) {
    for (Way way : client == Client.KOTLIN ? List.of(Way.SSE) : List.of(Way.values())) {
      List<String> lines = callWhile(Gateway::kill, client, way);

      assertThat(Outcome.of(lines, STEPS))
          .as("%s %s: %s", client, way, lines)
          .isEqualTo(client.broken(way));
    }
  }

  /** From the end of the replica on, requests go to the other one. */
  private static List<String> callWhile(Consumer<Gateway> ending, Client client, Way way) {
    try (Gateway replica = Gateway.start(settings(server.url(), redis.gatewaySettings()));
        RoundRobin balancer = RoundRobin.over(replica.url());
        FaultProxy network = FaultProxy.inFrontOf(balancer.url());
        ClientProgram program = way.start(client, network.url(), SHORT_LIMIT, COUNT, "text")) {
      await()
          .atMost(PATIENCE)
          .until(() -> network.exchanges().stream().anyMatch(each -> each.calls("tools/call")));
      if (client.hearsAtOnce(way)) {
        program.awaitLine(Outcome.progress(2));
      }
      balancer.retarget(List.of(gateway.url()));
      ending.accept(replica);

      return program.end();
    }
  }

  /** Cuts the stream with the events of the call after some of them. */
  private static Fault cut(Exchange exchange) {
    return exchange.calls("tools/call") || exchange.requestLine().startsWith("GET /sse")
        ? Fault.reset(Trigger.afterEvents(4)).after(StreamCuts.SILENCE)
        : Fault.none();
  }

  private static void endsAs(Outcome outcome, Client client, Way way, ClientProgram program) {
    assertThat(Outcome.of(program.end(), STEPS))
        .as("%s %s: %s", client, way, program)
        .isEqualTo(outcome);
  }
}
