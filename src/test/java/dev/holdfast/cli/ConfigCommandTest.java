package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code holdfast config} must not show. */
class ConfigCommandTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "npx server --api-key=abc --port 80|npx server --api-key=*** --port 80",
        "npx server --token abc --port 80|npx server --token *** --port 80",
        "npx server -token abc|npx server -token ***",
        "npx server --github-PAT-Token 'a b' x|npx server --github-PAT-Token *** x",
        "npx server --auth --verbose|npx server --auth --verbose",
        "env API_KEY=abc PORT=80 server|env API_KEY=*** PORT=80 server",
        "docker run -i -e NAME=abc -e OTHER image|docker run -i -e NAME=*** -e *** image",
        "docker run --env NAME=abc image|docker run --env NAME=*** image",
        "mcp-remote https://a.example/mcp --header 'X-Any: a b'|mcp-remote https://a.example/mcp --header X-Any:***",
        "curl -H 'Authorization: Bearer abc' url|curl -H Authorization:*** url",
        "curl -u me:abc url|curl -u me:*** url",
        "sh -c 'TOKEN=abc server --port 80'|sh -c TOKEN=***",
        "sh -c 'exec server --password abc --port 80'|sh -c 'exec server --password *** --port 80'",
        "server postgresql://me:abc@db/x|server postgresql://***@db/x",
        "server https://h.example/mcp?key=abc --port 80|server https://h.example/mcp?*** --port 80",
        "'/opt/my tools/server' --port 80|'/opt/my tools/server' --port 80",
        "server 'abc|***",
      })
  void shouldHideSecretsInTheOptionsOfAProgram(String command, String shown) {
    assertThat(ConfigCommand.shown("holdfast.upstream.command", command)).isEqualTo(shown);
    assertThat(ConfigCommand.shown("holdfast.upstreams.a.command", command)).isEqualTo(shown);
  }

  @Test
  void shouldHideSecretsInOtherValues() {
    assertThat(ConfigCommand.shown("quarkus.redis.hosts", "redis://me:abc@h:1?password=abc"))
        .isEqualTo("redis://***@h:1?***");
    assertThat(ConfigCommand.shown("quarkus.redis.password", "abc")).isEqualTo("***");
    assertThat(ConfigCommand.shown("holdfast.upstreams.a.headers.x", "abc")).isEqualTo("***");
    assertThat(ConfigCommand.shown("holdfast.http.path", "/mcp")).isEqualTo("/mcp");
  }
}
