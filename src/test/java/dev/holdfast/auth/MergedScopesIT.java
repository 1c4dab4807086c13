package dev.holdfast.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Scopes of servers, of their tools, and of an endpoint for several of them. */
class MergedScopesIT {

  private static final AccessKey ALICE = AccessKey.random();
  private static final AccessKey BOB = AccessKey.random();
  private static final AccessKey CAROL = AccessKey.random();

  private static final String LIST = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}";

  private static String call(String tool) {
    return """
    {"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"%s","arguments":{}}}\
    """
        .formatted(tool);
  }

  @Test
  void shouldShowAndCallWhatTheScopesAllow() {
    try (NodeFixture open = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        NodeFixture closed = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER)) {
      Map<String, String> settings = new HashMap<>();
      settings.put("holdfast.auth.keys.alice.hash", ALICE.hash());
      settings.put("holdfast.auth.keys.alice.scopes", "mcp,closed,simple");
      settings.put("holdfast.auth.keys.bob.hash", BOB.hash());
      settings.put("holdfast.auth.keys.bob.scopes", "mcp");
      settings.put("holdfast.auth.keys.carol.hash", CAROL.hash());
      settings.put("holdfast.auth.keys.carol.scopes", "closed");
      settings.put("holdfast.upstreams.open.url", open.url().toString());
      settings.put("holdfast.upstreams.open.tool-scopes.simple", "test_simple_text");
      settings.put("holdfast.upstreams.closed.url", closed.url().toString());
      settings.put("holdfast.upstreams.closed.scope", "closed");
      settings.put("holdfast.merge.scope", "mcp");
      try (Gateway gateway = Gateway.start(settings)) {
        McpClient alice = McpClient.at(gateway.url(), ALICE);
        McpClient bob = McpClient.at(gateway.url(), BOB);
        assertThat(alice.ask(LIST)).contains("closed__test_simple_text", "open__test_simple_text");
        assertThat(alice.ask(call("closed__test_simple_text"))).contains("simple text response");
        assertThat(alice.ask(call("open__test_simple_text"))).contains("simple text response");

        assertThat(bob.ask(LIST))
            .contains("open__test_error_handling")
            .doesNotContain("closed__", "open__test_simple_text");
        assertThat(bob.ask(call("closed__test_simple_text"))).contains("Unknown tool");
        assertThat(bob.ask(call("open__test_simple_text"))).contains("Unknown tool");
        assertThat(bob.ask(call("open__test_error_handling")))
            .contains("\"id\":8")
            .contains("isError");
        // Alice sees the same after Bob.
        assertThat(alice.ask(LIST)).contains("closed__test_simple_text", "open__test_simple_text");
        assertThat(McpClient.at(gateway.url(), CAROL).initialized().statusCode()).isEqualTo(403);
      }
    }
  }
}
