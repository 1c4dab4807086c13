package dev.holdfast.wiring.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.auth.AuthConfig;
import dev.holdfast.console.access.OperatorsConfig;
import io.smallrye.config.SmallRyeConfig;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The configuration of operators that stops the start, and why. */
class OperatorsCheckTest {

  private static final String URL = "holdfast.operators.console-url";
  private static final String HTTPS = "https://mcp.example.com/console/";

  private static Map<String, String> problems(Map<String, String> settings) {
    SmallRyeConfig config = ConfigFixture.by(settings);
    return new OperatorsCheck(
            config.getConfigMapping(GatewayConfig.class),
            config.getConfigMapping(OperatorsConfig.class),
            config.getConfigMapping(AuthConfig.class))
        .problems();
  }

  private static Map<String, String> with(String... more) {
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.auth.keys.alice.hash", AccessKey.random().hash());
    for (int i = 0; i < more.length; i += 2) {
      settings.put(more[i], more[i + 1]);
    }
    return settings;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        HTTPS,
        "https://mcp.example.com/",
        "https://mcp.example.com:8443/a/b/",
        "http://localhost:9000/",
        "http://127.0.0.1:9000/console/"
      })
  void shouldTakeUrlsOfAConsole(String url) {
    assertThat(problems(with(URL, url))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://mcp.example.com/console/",
        "https://mcp.example.com/console",
        "https://mcp.example.com",
        "https://mcp.example.com/a/?b",
        "https://mcp.example.com/a/#b",
        "https://user@mcp.example.com/",
        "https://mcp.example.com/../",
        "https://mcp.example.com/a%2fb/",
        "ftp://mcp.example.com/",
        "/console/"
      })
  void shouldRefuseOtherUrls(String url) {
    assertThat(problems(with(URL, url))).containsOnlyKeys(URL);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://mcp.example.com/",
        "https://mcp.example.com/mcp/",
        "https://mcp.example.com/servers/x/",
        "https://mcp.example.com/sse/console/"
      })
  void shouldRefuseToServeItAtPathsOfClients(String url) {
    String port = "holdfast.operators.port";
    assertThat(problems(with(URL, url, port, "main"))).containsOnlyKeys(port);
    assertThat(problems(with(URL, url, port, "management"))).isEmpty();
    assertThat(problems(with(URL, HTTPS, port, "main"))).isEmpty();
    assertThat(problems(with(port, "main"))).containsOnlyKeys(port);
  }

  @Test
  void shouldRefuseAConsoleThatNobodyCanEnter() {
    assertThat(problems(Map.of(URL, HTTPS))).containsOnlyKeys(URL);
  }

  @Test
  void shouldRefuseAClientWithoutOneIssuer() {
    String key = "holdfast.operators.client-id";
    String first = "holdfast.auth.issuers.a.url";
    String second = "holdfast.auth.issuers.b.url";
    assertThat(problems(with(key, "holdfast"))).containsOnlyKeys(key);
    assertThat(problems(with(URL, HTTPS, key, "holdfast"))).containsOnlyKeys(key);
    assertThat(problems(with(URL, HTTPS, key, "h", first, "https://a", second, "https://b")))
        .containsOnlyKeys(key);
    assertThat(problems(with(URL, HTTPS, key, "h", first, "https://a"))).isEmpty();
    assertThat(
            problems(
                with(
                    URL,
                    HTTPS,
                    key,
                    "h",
                    first,
                    "https://a",
                    second,
                    "https://b",
                    "holdfast.operators.issuer",
                    "b")))
        .isEmpty();
    assertThat(
            problems(
                with(URL, HTTPS, key, "h", first, "https://a", "holdfast.operators.issuer", "c")))
        .containsOnlyKeys(key);
  }

  @Test
  void shouldShowNoMessagesWithoutARecordOfEachLook() {
    String key = "holdfast.operators.messages";
    assertThat(problems(with(key, "true"))).containsOnlyKeys(key);
    assertThat(problems(with(key, "true", "holdfast.audit", "true"))).isEmpty();
    assertThat(problems(with("holdfast.operators.scope-prefix", "a b")))
        .containsOnlyKeys("holdfast.operators.scope-prefix");
  }
}
