package dev.holdfast.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client finds and calls only the tools that the scopes of its requests allow: over all
 * transports, and when another replica has the process of its session.
 */
@Timeout(120)
class ScopedToolsIT {

  private static final AccessKey ALICE = AccessKey.random();
  private static final AccessKey BOB = AccessKey.random();

  /** Writes what it gets to a file, and answers. */
  private static final String SERVER =
      """
      while read -r line; do
        printf '%s\\n' "$line" >> "$1"
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\\([0-9]*\\).*/\\1/p')
        case "$line" in
          *'"initialize"'*) result='{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},\
      "serverInfo":{"name":"s","version":"1"}}' ;;
          *'"tools/list"'*) result='{"tools":[{"name":"read_a"},{"name":"write_a"}],\
      "nextCursor":"more"}' ;;
          *) result='{"content":[]}' ;;
        esac
        [ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
      done
      """;

  private static final String REFUSED =
      """
      "error":{"code":-32000,"message":"The tool write_a needs the scope write",\
      "data":{"scope":"write"}}\
      """;

  @TempDir private Path directory;

  private Path received() {
    return directory.resolve("received");
  }

  @BeforeEach
  void writeServer() throws IOException {
    Files.writeString(directory.resolve("server.sh"), SERVER);
    Files.createFile(received());
  }

  private Map<String, String> settings() {
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.auth.keys.alice.hash", ALICE.hash());
    settings.put("holdfast.auth.keys.alice.scopes", "other,write");
    settings.put(
        "holdfast.upstream.command", "sh " + directory.resolve("server.sh") + " " + received());
    settings.put("holdfast.upstream.tool-scopes.write", "write_*");
    return settings;
  }

  private static String list(int id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"tools/list\"}";
  }

  private static String call(int id, String tool) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s"}}\
    """
        .formatted(id, tool);
  }

  @Test
  void shouldShowAndCallWhatTheScopesAllow() throws IOException {
    Map<String, String> settings = settings();
    settings.put("holdfast.auth.keys.bob.hash", BOB.hash());
    try (Gateway gateway = Gateway.start(settings)) {
      McpClient alice = McpClient.at(gateway.url(), ALICE);
      McpClient bob = McpClient.at(gateway.url(), BOB);
      assertAllowed(alice, 10);
      assertRefused(bob, 20);

      String batch = bob.ask("[" + call(30, "write_a") + "," + call(31, "read_a") + "]");
      assertThat(batch).contains("\"id\":30," + REFUSED, "\"id\":31,\"result\"");
      String notification = call(32, "write_a").replace("\"id\":32,", "");
      assertThat(bob.post(notification).statusCode()).isEqualTo(400);
      assertThat(bob.ask(call(33, "WRITE_A"))).contains("needs the scope write");
      assertThat(bob.ask(call(34, "\\u0077rite_a"))).contains("needs the scope write");
      assertThat(bob.ask(call(35, "read_a"))).contains("\"id\":35,\"result\"");
      legacyGets(gateway, bob, "id\":41," + REFUSED);
      legacyGets(gateway, alice, "id\":41,\"result\"");
    }
    assertThat(calls()).containsExactly("write_a", "read_a", "read_a", "read_a", "write_a");
  }

  private static void assertAllowed(McpClient client, int id) {
    assertThat(client.ask(list(id))).contains("read_a", "write_a", "\"nextCursor\":\"more\"");
    assertThat(client.ask(call(id + 1, "write_a"))).contains("\"id\":" + (id + 1) + ",\"result\"");
  }

  private static void assertRefused(McpClient client, int id) {
    assertThat(client.ask(list(id)))
        .contains("\"tools\":[{\"name\":\"read_a\"}],\"nextCursor\":\"more\"");
    assertThat(client.ask(call(id + 1, "write_a"))).contains("\"id\":" + (id + 1) + "," + REFUSED);
    assertThat(client.ask(call(id + 2, "read_a"))).contains("\"id\":" + (id + 2) + ",\"result\"");
  }

  /** Over HTTP with SSE. */
  private static void legacyGets(Gateway gateway, McpClient client, String expected) {
    try (FrameStream stream = client.elsewhere(gateway.url().resolve("/sse")).listen()) {
      McpClient messages = client.elsewhere(gateway.url().resolve(stream.event("/messages/")));
      String initialize = McpClient.initialize("2025-03-26", "test");
      assertThat(messages.post(initialize).statusCode()).isEqualTo(202);
      assertThat(stream.event("\"id\":0,")).contains("\"result\"");
      assertThat(messages.post(call(41, "write_a")).statusCode()).isEqualTo(202);
      assertThat(stream.event("\"id\":41")).contains(expected);
      assertThat(messages.delete().statusCode()).isEqualTo(204);
    }
  }

  /** The replica with the process knows Alice, but not which scopes her request has. */
  @Test
  void shouldHandScopesToTheReplicaThatHasTheSession() throws IOException {
    try (RedisFixture redis = RedisFixture.start()) {
      Map<String, String> with = settings();
      with.putAll(redis.gatewaySettings());
      Map<String, String> without = new HashMap<>(with);
      without.put("holdfast.auth.keys.alice.scopes", "other");
      List<Gateway> pair = Gateway.startAll(List.of(with, without));
      try (Gateway writers = pair.getFirst();
          Gateway readers = pair.getLast()) {
        McpClient atWriters = McpClient.at(writers.url(), ALICE);
        McpClient atReaders = McpClient.at(readers.url(), ALICE);
        assertRefused(atWriters.elsewhere(readers.url()), 10);
        assertAllowed(atWriters, 20);
        assertAllowed(atReaders.elsewhere(writers.url()), 30);
        assertRefused(atReaders, 40);
      }
    }
    assertThat(calls()).containsExactly("read_a", "write_a", "write_a", "read_a");
  }

  /** The names of the tools that the server was asked to run. */
  private List<String> calls() throws IOException {
    return Files.readAllLines(received()).stream()
        .filter(line -> line.contains("tools/call"))
        .map(line -> line.replaceAll(".*\"name\":\"(\\w+)\".*", "$1"))
        .toList();
  }
}
