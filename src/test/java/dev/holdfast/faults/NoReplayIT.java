package dev.holdfast.faults;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.ToolRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Servers that give ids to their events and cannot replay them: one ends each resumed stream at
 * once, as the SDK for Java does, and one never answers, as Spring AI does. Their calls must end
 * with an error, and within seconds: the time-outs for calls are an hour.
 */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class NoReplayIT {

  private static final List<String> KINDS = List.of("ending", "silent");

  private static final String INITIALIZED =
      """
      {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},\
      "serverInfo":{"name":"scripted","version":"1"}}}\
      """;

  private final Queue<RawConnection> calls = new ConcurrentLinkedQueue<>();
  private RedisFixture redis;
  private List<ScriptedServer> servers;
  private List<Gateway> gateways;

  @BeforeEach
  void start() {
    redis = RedisFixture.start();
    servers = KINDS.stream().map(kind -> ScriptedServer.playing(script(kind))).toList();
    Map<String, String> settings = new HashMap<>(redis.gatewaySettings());
    for (int i = 0; i < KINDS.size(); i++) {
      String key = "holdfast.upstreams." + KINDS.get(i) + ".url";
      settings.put(key, servers.get(i).url().toString());
    }
    gateways = Gateway.startPair(settings);
  }

  @AfterEach
  void stop() {
    gateways.forEach(Gateway::close);
    servers.forEach(ScriptedServer::close);
    redis.close();
  }

  private ScriptedServer.Script script(String kind) {
    return (request, wire) -> {
      switch (request.method()) {
        case "POST" -> post(request, wire);
        case "DELETE" -> wire.answer(200, "", "");
        default -> {
          if (request.header("last-event-id") == null) {
            wire.answer(405, "", "");
          } else if (kind.equals("ending")) {
            wire.beginEvents().endChunks();
          } else {
            wire.stall();
          }
        }
      }
    };
  }

  private void post(ScriptedRequest request, RawConnection wire) throws Exception {
    if (request.body().contains("\"initialize\"")) {
      wire.answer(200, "application/json", INITIALIZED, "Mcp-Session-Id: s");
    } else if (request.body().contains("tools/call")) {
      calls.add(wire);
      String step = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}";
      wire.beginEvents().chunk("id: 1\ndata: " + step + "\n\n").stall();
    } else {
      wire.answer(202, "", "");
    }
  }

  @Test
  void shouldEndCallsWhoseConnectionToTheServerIsReset() throws Exception {
    for (String kind : KINDS) {
      try (FrameStream call = begin(kind)) {
        calls.remove().reset();

        assertThat(call.events().getLast().data()).contains("outcome of the request is unknown");
      }
    }
  }

  @Test
  void shouldEndCallsWhoseReplicaIsKilled() {
    Map<String, String> lastIds = new HashMap<>();
    Map<String, McpClient> clients = new HashMap<>();
    for (String kind : KINDS) {
      McpClient client = client(kind, gateways.getFirst());
      FrameStream cut = client.stream(ToolRequest.count(1, 1, 1));
      assertThat(cut.event().data()).contains("progress");
      lastIds.put(kind, cut.lastEventId());
      clients.put(kind, client.elsewhere(gateways.getLast().url(path(kind))));
    }

    gateways.getFirst().kill();

    lastIds.forEach((kind, id) -> {
      try (FrameStream rest = requireNonNull(clients.get(kind)).resume(id)) {
        assertThat(rest.events().getLast().data()).contains("outcome of the request is unknown");
      }
    });
  }

  private FrameStream begin(String kind) {
    FrameStream call = client(kind, gateways.getFirst()).stream(ToolRequest.count(1, 1, 1));
    assertThat(call.event().data()).contains("progress");
    return call;
  }

  private static McpClient client(String kind, Gateway gateway) {
    return McpClient.at(gateway.url(path(kind))).ready();
  }

  private static String path(String kind) {
    return "/servers/" + kind + "/mcp";
  }
}
