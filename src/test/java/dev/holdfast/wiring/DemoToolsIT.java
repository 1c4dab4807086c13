package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nobody authenticates for the demo tools, so strangers must not reach them by accident. */
class DemoToolsIT {

  private static final String HOST = "quarkus.http.host";

  @Test
  void shouldNotServeDemoToolsToOtherMachines() {
    assertThatThrownBy(() -> Gateway.start(Map.of(HOST, "0.0.0.0")).close())
        .hasMessageContaining("There is nothing to serve: set holdfast.upstream.url")
        .hasMessageContaining(
            "0.0.0.0, which other machines can reach, set holdfast.demo-tools=always")
        .message()
        .doesNotContain("\tat ");
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, holdfast.demo-tools, local, true",
    "127.0.0.1, holdfast.demo-tools, never, false",
    "0.0.0.0, holdfast.demo-tools, always, true",
    "0.0.0.0, holdfast.upstreams.other.url, http://localhost:1/mcp, false",
  })
  void shouldServeDemoTools(String host, String key, String value, boolean served) {
    try (Gateway gateway = Gateway.start(Map.of(HOST, host, key, value))) {
      String tools =
          McpClient.at(gateway.url())
              .ready()
              .post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}")
              .body();

      assertThat(tools.contains("countdown")).as(tools).isEqualTo(served);
    }
  }
}
