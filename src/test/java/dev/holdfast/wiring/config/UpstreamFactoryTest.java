package dev.holdfast.wiring.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Caller;
import dev.holdfast.call.ClientToken;
import dev.holdfast.call.ClientTokens;
import dev.holdfast.call.Principal;
import dev.holdfast.era.south.ResultCache;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.token.UpstreamTokens;
import io.smallrye.config.SmallRyeConfig;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks which upstream a configuration creates. No upstream connects or starts anything. */
class UpstreamFactoryTest {

  private static final String URL = "http://localhost:1/mcp";

  @SuppressWarnings("NullAway.Init")
  private static Vertx vertx;

  @BeforeAll
  static void start() {
    vertx = Vertx.vertx();
  }

  @AfterAll
  static void stop() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private static SmallRyeConfig config(Map<String, String> server) {
    Map<String, String> properties = new HashMap<>();
    server.forEach((key, value) -> properties.put("holdfast.upstream." + key, value));
    return ConfigFixture.by(properties);
  }

  private static UpstreamFactory factory(SmallRyeConfig config) {
    return new UpstreamFactory(
        config.getConfigMapping(LimitsConfig.class),
        UpstreamFactory.Person.NONE,
        null,
        _ -> TlsConfigurations.NONE,
        new ClientTokens(10_000, InstantSource.system()),
        new ByteBudget(Long.MAX_VALUE),
        new MemorySessionStore(
            Duration.ofMinutes(1),
            () -> new SessionLimits(10, 10, Map.of()),
            InstantSource.system()),
        ResultCache.NONE);
  }

  private static GatewayConfig.Server server(SmallRyeConfig config) {
    return config.getConfigMapping(GatewayConfig.class).upstream();
  }

  private static Optional<Upstream> create(Map<String, String> server) {
    SmallRyeConfig config = config(server);
    return factory(config).create(vertx, "default", server(config));
  }

  /** Returns the transport of a session that the server calls so. */
  private static String transport(Map<String, String> server, String session) {
    try (Upstream upstream = create(server).orElseThrow()) {
      return upstream.placement(new UpstreamLink(session, "2025-11-25")).transport();
    }
  }

  @Test
  void shouldCreateTheConfiguredTransport() {
    assertThat(transport(Map.of("url", URL, "transport", "streamable-http"), "sse 1"))
        .isEqualTo("streamable-http");
    assertThat(transport(Map.of("url", URL, "transport", "sse"), "1")).isEqualTo("sse");
    assertThat(transport(Map.of("command", "x", "transport", "stdio"), "1")).isEqualTo("stdio");
  }

  @Test
  void shouldChooseTheTransportByUrlOrCommand() {
    assertThat(transport(Map.of("url", URL), "sse 1")).isEqualTo("sse");
    assertThat(transport(Map.of("url", URL), "1")).isEqualTo("streamable-http");
    assertThat(transport(Map.of("command", "x"), "1")).isEqualTo("stdio");
    assertThat(create(Map.of())).isEmpty();
  }

  @Test
  void shouldForwardHeadersOfClients() {
    Map<String, String> tenant = Map.of("url", URL, "forward-headers", "X-Tenant, X-Team");

    assertThat(create(tenant).orElseThrow().profile().forwardedHeaders())
        .containsExactlyInAnyOrder("x-tenant", "x-team");
  }

  @ParameterizedTest
  @CsvSource({"10, 50, 5", "5, 50, 3", "1, 1, 1", "7, 100, 7"})
  void shouldGiveOneClientAShareOfTheProcesses(String processes, String share, int perClient) {
    SmallRyeConfig config = config(Map.of("max-processes", processes, "process-share", share));

    assertThat(
            factory(config)
                .settings("default", "x", server(config))
                .channel()
                .maxSessionsPerOpener())
        .isEqualTo(perClient);
  }

  /** The server gets the token of the authorization server, and a new one after a 401. */
  @Test
  void shouldShowAccessTokens() {
    String token = "{\"access_token\":\"%s\",\"token_type\":\"Bearer\"}";
    try (ScriptedServer login =
            ScriptedServer.playing(
                (_, wire) -> wire.answer(200, "application/json", token.formatted("one")),
                (_, wire) -> wire.answer(200, "application/json", token.formatted("two")),
                (_, wire) -> wire.answer(500, "application/json", "{}"));
        ScriptedServer server = ScriptedServer.playing((_, wire) -> wire.answer(401, "", ""));
        Upstream upstream =
            create(
                    withTokens(
                        "client-credentials",
                        login,
                        server,
                        "resource",
                        "https://tools.example.com/mcp"))
                .orElseThrow()) {
      Message.Request initialize = initialize();
      for (int i = 0; i < 2; i++) {
        assertThatExceptionOfType(UpstreamException.Refused.class)
            .isThrownBy(() -> upstream.initialize(initialize));
      }
      try (LoggedLines log = new LoggedLines(UpstreamTokens.class)) {
        assertThatExceptionOfType(UpstreamException.Unreachable.class)
            .isThrownBy(() -> upstream.initialize(initialize));
        log.await("no access token for the upstream upstream=");
      }

      assertThat(server.requests())
          .extracting(request -> request.header("authorization"))
          .containsExactly("Bearer one", "Bearer two");
      assertThat(login.requests().getFirst().body())
          .contains(
              "grant_type=client_credentials", "resource=https%3A%2F%2Ftools.example.com%2Fmcp");
    }
  }

  private static Caller clientWith(String token) {
    Instant later = Instant.now().plusSeconds(600);
    return Caller.of(Principal.ANONYMOUS, Set.of(), new ClientToken(token, later));
  }

  private static void isRefused(Upstream upstream, String token) {
    assertThatExceptionOfType(UpstreamException.Refused.class)
        .isThrownBy(() -> upstream.initialize(initialize(), clientWith(token)));
  }

  private static Upstream exchanging(ScriptedServer login, ScriptedServer server) {
    return create(withTokens("exchange", login, server, "audience", "tools")).orElseThrow();
  }

  private static Map<String, String> withTokens(
      String authorization, ScriptedServer login, ScriptedServer server, String key, String value) {
    return Map.of(
        "url",
        server.url().toString(),
        "authorization",
        authorization,
        "token.endpoint",
        login.url().toString(),
        "token.client-id",
        "holdfast",
        "token.client-secret",
        "secret",
        "token." + key,
        value);
  }

  private static String numbered(int token) {
    return "{\"access_token\":\"%d\",\"token_type\":\"Bearer\",\"expires_in\":600}"
        .formatted(token);
  }

  /** Each token of a client is exchanged once, unless there are too many. */
  @Test
  void shouldExchangeTokensOfClients() {
    AtomicInteger issued = new AtomicInteger();
    try (ScriptedServer login =
            ScriptedServer.playing((_, wire) ->
                wire.answer(200, "application/json", numbered(issued.incrementAndGet())));
        ScriptedServer server = ScriptedServer.playing((_, wire) -> wire.answer(400, "", ""));
        Upstream upstream = exchanging(login, server);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> clients = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        clients.add(threads.submit(() -> isRefused(upstream, "first")));
      }
      clients.forEach(client -> assertThat(client).succeedsWithin(Duration.ofSeconds(20)));
      assertThat(login.requests()).hasSize(1);
      assertThat(login.requests().getFirst().body())
          .contains(
              "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange",
              "subject_token=first",
              "subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token",
              "audience=tools");
      assertThat(server.requests())
          .extracting(request -> request.header("authorization"))
          .containsOnly("Bearer 1");

      for (int i = 0; i < UpstreamTokens.MAX_TOKENS; i++) {
        isRefused(upstream, "other-" + i);
      }
      isRefused(upstream, "other-0");
      assertThat(login.requests()).hasSize(1 + UpstreamTokens.MAX_TOKENS);
      isRefused(upstream, "first");
      assertThat(login.requests()).hasSize(2 + UpstreamTokens.MAX_TOKENS);
    }
  }

  /** That one client may not have a token says nothing about the others, and about the server. */
  @Test
  void shouldTellRefusalsOfOneClientFromFailures() {
    try (ScriptedServer login =
            ScriptedServer.playing(
                (_, wire) -> wire.answer(400, "application/json", "{\"error\":\"invalid_grant\"}"),
                (_, wire) ->
                    wire.answer(401, "application/json", "{\"error\":\"invalid_client\"}"));
        ScriptedServer server = ScriptedServer.playing((_, wire) -> wire.answer(400, "", ""));
        Upstream upstream = exchanging(login, server)) {
      assertThatExceptionOfType(UpstreamException.Refused.class)
          .isThrownBy(() -> upstream.initialize(initialize(), clientWith("one")))
          .satisfies(refused -> {
            assertThat(refused.status()).isEqualTo(403);
            assertThat(refused.clientHeaders()).containsExactly("authorization");
          });
      assertThatExceptionOfType(UpstreamException.Unreachable.class)
          .isThrownBy(() -> upstream.initialize(initialize(), clientWith("two")));
      assertThatExceptionOfType(UpstreamException.NoToken.class)
          .isThrownBy(() -> upstream.initialize(initialize(), Caller.UNKNOWN));
      assertThat(server.requests()).isEmpty();
    }
  }

  private static Message.Request initialize() {
    String text = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}";
    try {
      Body body = Envelopes.read(text.getBytes(StandardCharsets.UTF_8));
      return (Message.Request) ((Body.Single) body).message();
    } catch (EnvelopeException invalid) {
      throw new AssertionError(invalid);
    }
  }
}
