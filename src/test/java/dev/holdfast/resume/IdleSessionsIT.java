package dev.holdfast.resume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ResourceUsage;
import dev.holdfast.testing.ScriptedServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Costs of sessions whose servers send nothing outside of requests. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class IdleSessionsIT {

  private static final String INITIALIZED =
      """
      {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},\
      "serverInfo":{"name":"scripted","version":"1"}}}\
      """;

  private static final String ECHO =
      """
      {"jsonrpc":"2.0","id":7,"method":"tools/call","params":\
      {"name":"echo","arguments":{"message":"still here"}}}\
      """;

  private static final String LOCAL = "/mcp";
  private static final String REMOTE = "/servers/remote/mcp";
  private static final String WRITER = "dev.holdfast.log.redis.write.RedisStreamWriter";

  private RedisFixture redis;
  private ScriptedServer remote;
  private Map<String, String> settings;
  private Gateway gateway;

  @BeforeEach
  void start() {
    redis = RedisFixture.start();
    remote =
        ScriptedServer.playing((request, wire) -> {
          if (request.body().contains("\"initialize\"")) {
            wire.answer(200, "application/json", INITIALIZED, "Mcp-Session-Id: s");
          } else {
            wire.answer(request.method().equals("GET") ? 405 : 202, "", "");
          }
        });
    settings = new HashMap<>(redis.gatewaySettings());
    settings.put("holdfast.upstreams.remote.url", remote.url().toString());
    gateway = Gateway.start(settings);
  }

  @AfterEach
  void stop() {
    gateway.close();
    remote.close();
    redis.close();
  }

  private List<McpClient> open(String endpoint) {
    List<McpClient> clients = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      clients.add(McpClient.at(gateway.url(endpoint)).ready());
    }
    return clients;
  }

  private String owner(McpClient client) {
    return String.join("", redis.reply("HGET", "holdfast:{" + client.session() + "}", "o:g"));
  }

  private void assertNoWriters() {
    assertThat(ResourceUsage.of(gateway).instances()).doesNotContainKey(WRITER);
  }

  @Test
  void shouldOpenNoStreamBeforeAClientWaits() {
    List<McpClient> clients = open(LOCAL);

    assertThat(clients).allSatisfy(each -> assertThat(owner(each)).isEmpty());
    assertNoWriters();
  }

  @Test
  void shouldKeepNoWriterForClientsThatWait() {
    List<McpClient> clients = open(LOCAL);
    clients.addAll(open(REMOTE));
    List<FrameStream> waiting = clients.stream().map(McpClient::listen).toList();

    await().untilAsserted(this::assertNoWriters);
    assertThat(clients).allSatisfy(each -> assertThat(owner(each)).startsWith("- "));
    assertThat(waiting).allSatisfy(each -> assertThat(each.status()).isEqualTo(200));

    // A client that comes back elsewhere takes the place of its first connection.
    try (Gateway other = Gateway.start(settings);
        FrameStream again = clients.getFirst().elsewhere(other.url(LOCAL)).listen()) {
      assertThat(again.status()).isEqualTo(200);
      assertThat(waiting.getFirst().events()).isEmpty();
      gateway.kill();
      String result = clients.getFirst().elsewhere(other.url(LOCAL)).ask(ECHO);
      assertThat(result).contains("still here");
    }
    waiting.forEach(FrameStream::close);
  }
}
