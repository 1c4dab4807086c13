package dev.holdfast.era.south;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.StatelessClient;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The limit {@code eras.cache-bytes} through the gateway: clients see nothing of it but the time.
 */
@Timeout(60)
class ResultCacheIT {

  private static final String METHOD = "resources/read";

  @Test
  void shouldAskTheServerAgainForWhatHasNoPlace() {
    try (StatelessServer server = new StatelessServer();
        Gateway gateway =
            Gateway.start(
                Map.of(
                    "holdfast.upstream.url", server.http.url().toString(),
                    "holdfast.upstream.era", "new",
                    "holdfast.eras.cache-bytes", "5K"))) {
      server.result(
          METHOD,
          """
          {"resultType":"complete","ttlMs":3600000,"cacheScope":"public",\
          "contents":[{"uri":"a:","text":"%s"}]}\
          """
              .formatted("x".repeat(1000)));
      StatelessClient client = StatelessClient.at(gateway.url());

      for (String uri : List.of("1", "2", "3", "4", "5", "6", "7", "8", "8", "1")) {
        String read = client.ask(METHOD, "{\"uri\":\"a:" + uri + "\"}").toString();
        assertThat(read).contains("x".repeat(1000));
      }

      // The eighth was kept, and the first had to go.
      assertThat(server.requests(METHOD)).hasSize(9);
    }
  }
}
