package dev.holdfast.upstream.renewal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ToolRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two packaged gateways in front of a server that is restarted and then knows no session. */
@Timeout(120)
class RenewedSessionsIT {

  @AutoClose private final RedisFixture redis = RedisFixture.start();
  @AutoClose private final ForgetfulServer server = new ForgetfulServer();
  @AutoClose private final ForgetfulServer pinged = new ForgetfulServer();

  private Map<String, String> settings() {
    return redis.gatewaySettings(
        "holdfast.upstream.url",
        server.url().toString(),
        "holdfast.upstream.respawn",
        "true",
        "holdfast.upstreams.ending.url",
        server.url().toString(),
        "holdfast.upstreams.pinged.url",
        pinged.url().toString(),
        "holdfast.upstreams.pinged.respawn",
        "true",
        "holdfast.upstreams.pinged.ping-interval",
        "1s");
  }

  private static HttpResponse<String> ask(McpClient client, int id) {
    return client.post("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"tools/list\"}");
  }

  @Test
  void shouldContinueSessionsWhoseServerForgetsThem() {
    List<Gateway> pair = Gateway.startPair(settings());
    try (Gateway one = pair.getFirst();
        Gateway two = pair.getLast()) {
      continuesAtBoth(one, two);
      losesOnlyTheRunningCall(one);
      endsUnlessConfigured(one);
      findsTheLossByPings(one);
    }
  }

  private void continuesAtBoth(Gateway one, Gateway two) {
    McpClient here = McpClient.at(one.url()).ready();
    McpClient there = here.elsewhere(two.url());
    here.post(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"error\"}}");
    there.post(
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"a:/1\"}}");
    assertThat(ask(there, 3).body()).contains("\"session\":\"s-1\"");

    server.restart();

    for (int id = 4; id < 10; id++) {
      HttpResponse<String> answer = ask(id % 2 == 0 ? here : there, id);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }
    ForgetfulServer.State kept = new ForgetfulServer.State(Set.of("error"), Set.of("a:/1"));
    await().untilAsserted(() -> assertThat(server.sessions().values()).containsExactly(kept));
    String newest = server.sessions().keySet().iterator().next();
    await()
        .untilAsserted(() ->
            assertThat(server.received("GET"))
                .extracting(each -> each.header("mcp-session-id"))
                .contains(newest));

    assertThat(there.delete().statusCode()).isEqualTo(204);
    assertThat(server.sessions()).isEmpty();
  }

  private void losesOnlyTheRunningCall(Gateway gateway) {
    McpClient client = McpClient.at(gateway.url()).ready();
    try (FrameStream call = client.stream(ToolRequest.of(1, "hang", "{}"))) {
      assertThat(call.event().data()).contains("at/");

      server.restart();

      assertThat(call.events().getLast().data()).contains("\"id\":1", "outcome", "unknown");
    }
    assertThat(ask(client, 2).statusCode()).isEqualTo(200);
    assertThat(server.received("\"hang\"")).hasSize(1);
  }

  private void endsUnlessConfigured(Gateway gateway) {
    McpClient client = McpClient.at(gateway.url("/servers/ending/mcp"));
    assertThat(ask(client, 1).statusCode()).isEqualTo(200);

    server.restart();

    assertThat(ask(client, 2).statusCode()).isEqualTo(404);
  }

  /** The server keeps its connections, so nothing else tells of the loss. */
  private void findsTheLossByPings(Gateway gateway) {
    McpClient client = McpClient.at(gateway.url("/servers/pinged/mcp")).ready();
    await().until(() -> !pinged.received("\"ping\"").isEmpty());

    pinged.forget();

    await().until(() -> !pinged.sessions().isEmpty());
    assertThat(ask(client, 1).body()).contains("\"session\":\"s-2\"");
  }
}
