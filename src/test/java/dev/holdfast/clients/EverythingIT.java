package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.Inspector;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.ToolRequest;
import java.net.http.HttpClient;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The MCP project's own server, as it is published, behind each transport that it has; and the MCP
 * project's own client for the command line through each transport that the gateway has.
 */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class EverythingIT {

  private static final long SEED = Long.getLong("holdfast.seed", 20_251_125L);
  private static final int STEPS = 8;

  private static NodeFixture web;
  private static NodeFixture sse;
  private static Gateway gateway;

  @BeforeAll
  static void start() {
    web = NodeFixture.everything("streamableHttp");
    sse = NodeFixture.everything("sse");
    gateway =
        Gateway.start(
            Map.of(
                "holdfast.stream.retry", "100ms",
                "holdfast.upstreams.web.url", web.url().toString(),
                "holdfast.upstreams.sse.url", sse.url("/sse").toString(),
                "holdfast.upstreams.stdio.command",
                    NodeFixture.commandLine(NodeFixture.EVERYTHING, "stdio")));
  }

  @AfterAll
  static void stop() {
    gateway.close();
    sse.close();
    web.close();
  }

  /** How a client can reach the gateway. */
  enum Way {
    STREAMABLE_HTTP {
      @Override
      Inspector to(String upstream) {
        return Inspector.overHttp(gateway.url("/servers/" + upstream + "/mcp"));
      }
    },
    SSE {
      @Override
      Inspector to(String upstream) {
        return Inspector.overSse(gateway.url("/servers/" + upstream + "/sse"));
      }
    },
    STDIO {
      @Override
      Inspector to(String upstream) {
        String url = gateway.url("/servers/" + upstream + "/mcp").toString();
        return Inspector.overStdio(PackagedProgram.command("stdio", "--url", url));
      }
    };

    abstract Inspector to(String upstream);
  }

  @ParameterizedTest
  @CsvSource({"STREAMABLE_HTTP, web", "SSE, sse", "STDIO, stdio"})
  void shouldListAndCallItsToolsForTheInspector(Way way, String upstream) {
    listsAndCallsTools(way, upstream);
  }

  /** The two sides of the gateway do not know of each other, so that one of each tells enough. */
  @ParameterizedTest
  @Tag("long")
  @CsvSource({
    "STREAMABLE_HTTP, sse",
    "STREAMABLE_HTTP, stdio",
    "SSE, web",
    "SSE, stdio",
    "STDIO, web",
    "STDIO, sse"
  })
  void shouldListAndCallItsToolsOverAnyTwoTransports(Way way, String upstream) {
    listsAndCallsTools(way, upstream);
  }

  private static void listsAndCallsTools(Way way, String upstream) {
    Inspector inspector = way.to(upstream);

    assertThat(inspector.tools()).as(upstream).contains("echo", "get-sum", "get-tiny-image");
    assertThat(inspector.call("echo", "message=" + upstream)).isEqualTo("Echo: " + upstream);
  }

  /** Of the older transport nobody else resumes a call. */
  @ParameterizedTest
  @ValueSource(strings = {"web", "sse", "stdio"})
  void shouldFinishACallWhoseConnectionIsCut(String upstream) throws Exception {
    Random random = new Random(SEED);
    StreamCuts cuts = StreamCuts.ofCall(2, SEED);
    try (FaultProxy network = FaultProxy.inFrontOf(gateway.url("/servers/" + upstream + "/mcp"));
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      network.plan(cuts);
      FollowingClient client = new FollowingClient(http, List.of(network.url()), random);

      Transcript seen = client.call(longCall(), random);

      assertThat(seen.results()).as(seen.toString()).isEqualTo(1);
      assertThat(seen.progress())
          .as(seen.toString())
          .isEqualTo(IntStream.rangeClosed(1, STEPS).boxed().toList());
      assertThat(cuts.done()).isEqualTo(2);
      client.end(random);
    }
  }

  private static String longCall() {
    return ToolRequest.of(
        1, "trigger-long-running-operation", "{\"duration\":2,\"steps\":%d}".formatted(STEPS));
  }
}
