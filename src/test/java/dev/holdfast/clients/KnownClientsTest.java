package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KnownClientsTest {

  private final KnownClients builtIn = new KnownClients(Map.of());

  @ParameterizedTest
  @CsvSource({
    "Java-http-client/21.0.2, Java SDK MCP Client/0.15.0, java-sdk, false, true, 0, PT20S",
    "Java-http-client/21.0.2, spring-ai-mcp-client - one/1.0.0, spring-ai, false, true, 0, PT20S",
    "Java-http-client/25.0.3, langchain4j/1.0, langchain4j, true, true, 0, PT60S",
    "Java-http-client/17.0.1, my-agent/3, java-http-client, false, true, ,",
    "Java-http-client/17.0.1, '', java-http-client, false, true, ,",
    "ai-sdk/2.0.99 runtime/node.js/v22, ai-sdk-mcp-client/1.0.0, ai-sdk, true, false, 0,",
    "my-app/1 ai-sdk/2.0.99 runtime/node.js/v22, my-app/1.0.0, ai-sdk, true, false, 0,",
    "ktor-client, my-agent/1, kotlin-sdk, true, true, 2, PT60S",
    "node, mcp/1.0, -, true, true, ,",
    "'', '', -, true, true, ,",
    "ReactorNetty/1.2, Java SDK MCP Client/0.15.0, -, true, true, ,",
  })
  void shouldKnowMeasuredClients(
      String userAgent,
      String clientInfo,
      String name,
      boolean retry,
      boolean priming,
      Integer resumes,
      Duration timeLimit) {
    KnownClient found = builtIn.find(userAgent, clientInfo);

    assertThat(found.name()).isEqualTo(name);
    assertThat(found.retry()).isEqualTo(retry);
    assertThat(found.priming()).isEqualTo(priming);
    assertThat(found.resumes()).isEqualTo(resumes);
    assertThat(found.timeLimit()).isEqualTo(timeLimit);
  }

  @Test
  void shouldPreferConfiguredClients() {
    KnownClients clients =
        new KnownClients(
            Map.of(
                "mine",
                new DescribedClient(
                    Optional.of("Java-http-client/*"),
                    Optional.of("my-*/2.*"),
                    true,
                    false,
                    OptionalInt.empty(),
                    Duration.ofMinutes(2)),
                "java-http-client",
                DescribedClient.resuming("Java-http-client/99*", 7)));

    KnownClient mine = clients.find("Java-http-client/21", "my-agent/2.1");
    KnownClient replaced = clients.find("Java-http-client/99.1", "other/1");

    assertThat(mine.name()).isEqualTo("mine");
    assertThat(mine.retry()).isTrue();
    assertThat(mine.priming()).isFalse();
    assertThat(mine.resumes()).isNull();
    assertThat(mine.timeLimit()).isEqualTo(Duration.ofMinutes(2));
    assertThat(replaced.name()).isEqualTo("java-http-client");
    assertThat(replaced.resumes()).isEqualTo(7);
    assertThat(clients.find("Java-http-client/21", "my-agent/3")).isEqualTo(KnownClient.UNKNOWN);
    assertThat(clients.all()).hasSize(KnownClients.BUILT_IN.size() + 1);
  }

  @ParameterizedTest
  @CsvSource({"0, false", "2, false", "3, true", "1000, true"})
  void shouldMoveOnlyClientsWithSomeAttempts(int attempts, boolean moves) {
    KnownClients clients = new KnownClients(Map.of("x", DescribedClient.resuming("x", attempts)));

    assertThat(clients.find("x", "").moves(true)).isEqualTo(moves);
    assertThat(clients.find("x", "").moves(false)).isEqualTo(moves);
    assertThat(KnownClient.UNKNOWN.moves(true)).isTrue();
    assertThat(KnownClient.UNKNOWN.moves(false)).isFalse();
  }

  @Test
  void shouldBeDocumented() throws IOException {
    String page = Files.readString(Path.of("docs", "clients.md"));

    assertThat(KnownClients.BUILT_IN).allSatisfy(client -> assertThat(page).contains(row(client)));
  }

  private static String row(KnownClient client) {
    String userAgent = "`" + client.userAgent() + "`";
    String info = client.clientInfo() == null ? "any" : "`" + client.clientInfo() + "`";
    String resumes =
        client.resumes() == null
            ? "unknown"
            : client.resumes() == 0 ? "never" : client.resumes() + " attempts";
    Duration limit = client.timeLimit();
    return "| `%s` | %s | %s | %s | %s | %s | %s |"
        .formatted(
            client.name(),
            userAgent,
            info,
            client.retry() ? "yes" : "**no**",
            client.priming() ? "yes" : "**no**",
            resumes,
            limit == null ? "unknown" : limit.toSeconds() + " s");
  }
}
