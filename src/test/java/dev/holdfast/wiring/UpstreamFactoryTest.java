package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.http.DetectingUpstream;
import dev.holdfast.upstream.http.HttpUpstream;
import dev.holdfast.upstream.http.LegacyUpstream;
import dev.holdfast.upstream.stdio.StdioUpstream;
import io.smallrye.config.SmallRyeConfig;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
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
        config.getConfigMapping(LimitsConfig.class), false, null, _ -> TlsConfigurations.NONE);
  }

  private static GatewayConfig.Server server(SmallRyeConfig config) {
    return config.getConfigMapping(GatewayConfig.class).upstream();
  }

  private static Optional<Upstream> create(Map<String, String> server) {
    SmallRyeConfig config = config(server);
    return factory(config).create(vertx, "default", server(config));
  }

  private static Class<?> classOf(Map<String, String> server) {
    try (Upstream upstream = create(server).orElseThrow()) {
      return upstream.getClass();
    }
  }

  @Test
  void shouldCreateTheConfiguredTransport() {
    assertThat(classOf(Map.of("url", URL, "transport", "streamable-http")))
        .isEqualTo(HttpUpstream.class);
    assertThat(classOf(Map.of("url", URL, "transport", "sse"))).isEqualTo(LegacyUpstream.class);
    assertThat(classOf(Map.of("command", "x", "transport", "stdio")))
        .isEqualTo(StdioUpstream.class);
  }

  @Test
  void shouldChooseTheTransportByUrlOrCommand() {
    assertThat(classOf(Map.of("url", URL))).isEqualTo(DetectingUpstream.class);
    assertThat(classOf(Map.of("command", "x"))).isEqualTo(StdioUpstream.class);
    assertThat(create(Map.of())).isEmpty();
  }

  @Test
  void shouldForwardHeadersOfClients() {
    Map<String, String> tenant = Map.of("url", URL, "forward-headers", "X-Tenant, X-Team");

    assertThat(create(tenant).orElseThrow().forwardedHeaders())
        .containsExactlyInAnyOrder("x-tenant", "x-team");
  }

  @ParameterizedTest
  @CsvSource({"10, 50, 5", "5, 50, 3", "1, 1, 1", "7, 100, 7"})
  void shouldGiveOneClientAShareOfTheProcesses(String processes, String share, int perClient) {
    SmallRyeConfig config = config(Map.of("max-processes", processes, "process-share", share));

    assertThat(factory(config).settings("default", "x", server(config)).maxProcessesPerClient())
        .isEqualTo(perClient);
  }
}
