package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import dev.holdfast.testing.RedisFixture;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a connected client sees of the limits of the log: nothing. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class LogLimitsIT {

  private static final int EVENTS = 6000;
  private static final int BYTES = 350;

  @ParameterizedTest
  @CsvSource({
    "memory, stream.max-events, 100",
    "memory, log.stream-bytes, 64K",
    "memory, log.session-bytes, 64K",
    "memory, memory.max-bytes, 64K",
    "redis, redis.max-bytes, 64K",
  })
  void shouldDeliverAllThatExceedsTheLimit(String store, String key, String limit)
      throws Exception {
    try (RedisFixture redis = RedisFixture.start();
        FloodServer server = new FloodServer()) {
      Map<String, String> settings = new HashMap<>();
      settings.put("holdfast.upstream.url", server.url().toString());
      settings.put("holdfast.store", store);
      settings.put("quarkus.redis.hosts", redis.url());
      settings.put("holdfast." + key, limit);
      try (Gateway gateway = Gateway.start(settings);
          NonReadingClient client = NonReadingClient.connect(gateway.url())) {
        String session = McpClient.at(gateway.url()).ready().session();
        client.post(session, FloodServer.flood(1, EVENTS, BYTES, 0));

        FloodReader reader = FloodReader.slow(BYTES).read(client.body(), Integer.MAX_VALUE);

        assertThat(reader.seen()).as(reader.toString()).isEqualTo(EVENTS);
        assertThat(reader.isComplete()).as(reader.toString()).isTrue();
      }
    }
  }
}
