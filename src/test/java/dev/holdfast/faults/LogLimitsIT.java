package dev.holdfast.faults;

import static org.awaitility.Awaitility.await;

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
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class LogLimitsIT {

  private static final int BYTES = 350;

  @ParameterizedTest
  @CsvSource({
    "memory, stream.max-events, 100, 6000",
    "memory, log.stream-bytes, 64K, 6000",
    "memory, log.session-bytes, 64K, 6000",
    "memory, memory.max-bytes, 64K, 6000",
    "memory, log.client-bytes, 64K, 6000",
    "redis, log.stream-bytes, 64K, 10000",
    "redis, log.session-bytes, 64K, 10000",
    "redis, log.client-bytes, 64K, 10000",
    "redis, redis.max-bytes, 64K, 10000",
  })
  void shouldDeliverAllThatExceedsTheLimit(String store, String key, String limit, int events)
      throws Exception {
    try (RedisFixture redis = RedisFixture.start();
        FloodServer server = new FloodServer()) {
      Map<String, String> settings = new HashMap<>();
      settings.put("holdfast.upstream.url", server.url().toString());
      settings.put("holdfast.store", store);
      settings.put("quarkus.redis.hosts", redis.url());
      settings.put("holdfast.stream.max-events", "100000");
      settings.put("holdfast." + key, limit);
      try (Gateway gateway = Gateway.start(settings);
          NonReadingClient client = NonReadingClient.connect(gateway.url())) {
        String session = McpClient.at(gateway.url()).ready().session();
        client.post(session, FloodServer.flood(1, events, BYTES, 0));
        if (store.equals("redis")) {
          // Redis is checked now and then: it must be while the socket of the client is full.
          await().until(() -> hasRemoved(redis, session));
        }

        // Needs two seconds for what is left when the call has ended, which is enough for a check.
        FloodReader reader = FloodReader.slow(BYTES, 5);
        reader.read(client.body(), Integer.MAX_VALUE);

        reader.assertHasAll(events);
      }
    }
  }

  /** True if the first event of a stream of the session is gone, while later ones are there. */
  private static boolean hasRemoved(RedisFixture redis, String session) {
    return redis.keys().stream()
        .filter(key -> key.contains(session) && redis.command("TYPE", key).equals("+stream"))
        .map(key -> redis.reply("XRANGE", key, "-", "+", "COUNT", "1"))
        .anyMatch(first -> !first.isEmpty() && !first.getFirst().endsWith("-1"));
  }
}
