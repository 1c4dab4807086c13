package dev.holdfast.intercept;

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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rules of the configuration, over two replicas and Redis. */
class ConfiguredRulesIT {

  private static final String LIST =
      """
      {"jsonrpc":"2.0","id":90,"method":"tools/list"}\
      """;
  private static final String SECRET = "the number of the card is 1234";

  @TempDir private Path tapes;

  @Test
  void shouldApplyToWhatIsListedCalledLoggedReplayedAndRecorded() throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      Map<String, String> redisStore = redis.gatewaySettings();
      Map<String, String> rules = new HashMap<>(redisStore);
      rules.put("holdfast.upstream.deny-tools", "prim*,nothing");
      rules.put("holdfast.upstream.redact", "/content/*/text,/structuredContent");
      rules.put("holdfast.upstream.calls-per-minute", "2");
      rules.put("holdfast.record.dir", tapes.toString());
      Map<String, String> sizes = new HashMap<>(redisStore);
      sizes.put("holdfast.upstream.result-bytes", "1K");
      List<Gateway> pair = Gateway.startAll(List.of(rules, sizes));
      try (Gateway gateway = pair.getFirst();
          Gateway other = pair.getLast()) {
        McpClient client = McpClient.at(gateway.url()).ready();

        assertThat(whole(client.call("primes", "{\"limit\":10}")))
            .contains("\"code\":-32602", "Unknown tool: primes");
        assertThat(
                client
                    .post(
                        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\","
                            + "\"params\":{\"name\":\"echo\",\"Name\":\"primes\"}}")
                    .body())
            .contains("\"code\":-32600");
        String echoed = whole(client.call("echo", "{\"message\":\"" + SECRET + "\"}"));
        assertThat(echoed).contains("[redacted]").doesNotContain(SECRET);
        McpClient elsewhere = client.elsewhere(other.url());
        assertThat(whole(elsewhere.resume(firstId(echoed))))
            .contains("[redacted]")
            .doesNotContain(SECRET);
        assertThat(stored(redis)).contains("[redacted]").doesNotContain(SECRET);
        assertThat(whole(client.call("echo", "{\"message\":\"1\"}"))).contains("[redacted]");
        assertThat(whole(client.call("echo", "{\"message\":\"2\"}")))
            .contains("Too many calls of this tool", "\"limitPerMinute\":2");
        assertThat(client.post(LIST).body()).contains("\"echo\"").doesNotContain("primes");
        assertThat(elsewhere.post(LIST).body())
            .contains("The result is larger than this gateway allows", "\"limit\":1024");
      }
    }
    assertThat(recordedFromServer()).contains("[redacted]").doesNotContain(SECRET);
  }

  /** Without what the client sent: its arguments are on the tape as they are. */
  private String recordedFromServer() throws IOException {
    try (Stream<Path> files = Files.list(tapes)) {
      return Files.readAllLines(files.findFirst().orElseThrow()).stream()
          .filter(line -> line.contains("\"from\":\"server\""))
          .collect(Collectors.joining("\n"));
    }
  }

  private static String whole(FrameStream stream) {
    assertThat(stream.rest()).isNotEmpty();
    return stream.raw();
  }

  private static String firstId(String stream) {
    return stream
        .lines()
        .filter(line -> line.startsWith("id:"))
        .findFirst()
        .orElseThrow()
        .substring(3)
        .strip();
  }

  private static String stored(RedisFixture redis) {
    return redis.keys().stream()
        .filter(key -> key.contains(":e:"))
        .flatMap(key -> redis.reply("XRANGE", key, "-", "+").stream())
        .collect(Collectors.joining("\n"));
  }
}
