package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import dev.holdfast.testing.RedisFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Results that must stay in the log until their clients have them. */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class KeptResultsFaultsIT {

  private static final int CALLS = LongRun.REQUESTED ? 200 : 60;
  private static final int AT_A_TIME = 20;
  private static final int EVENTS = 2;
  private static final int EVENT_BYTES = 1_000_000;
  private static final int RESULT_BYTES = 3_000_000;

  private final FloodServer server = new FloodServer();

  @AfterEach
  void stop() {
    server.close();
  }

  /** Each call has half of the budget, so the writers must wait for each other's readers. */
  @Test
  void aFullBudgetShouldDelayResultsOfConnectedClients() throws Exception {
    bringsAllResults(Map.of("holdfast.memory.max-bytes", "10M"));
  }

  /** With the memory that a gateway has by default, which all calls together exceed. */
  @Test
  void shouldBringAllResultsWithTheDefaults() throws Exception {
    assumeThat(LongRun.REQUESTED).isTrue();
    bringsAllResults(Map.of());
  }

  private void bringsAllResults(Map<String, String> budget) throws Exception {
    try (Gateway gateway = Gateway.start(server.settings(budget));
        ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME)) {
      List<Callable<FloodReader>> calls = new ArrayList<>();
      for (int i = 0; i < CALLS; i++) {
        calls.add(() -> callLarge(gateway));
      }

      for (Future<FloodReader> call : threads.invokeAll(calls)) {
        FloodReader reader = call.get();
        assertThat(reader.seen()).as(reader.toString()).isEqualTo(EVENTS);
        assertThat(reader.resultBytes()).as(reader.toString()).isGreaterThan(RESULT_BYTES);
      }
    }
  }

  private static FloodReader callLarge(Gateway gateway) throws Exception {
    String session = McpClient.at(gateway.url()).ready().session();
    String call = FloodServer.floodWithResult(1, EVENTS, EVENT_BYTES, RESULT_BYTES);
    return FloodReader.of(EVENT_BYTES).call(gateway.url(), session, call, Integer.MAX_VALUE);
  }

  @Test
  void aFrozenClientShouldFetchItsResultLaterFromMemory() throws Exception {
    fetchesItsResultLater(Map.of());
  }

  @Test
  void aFrozenClientShouldFetchItsResultLaterFromRedis() throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      fetchesItsResultLater(redis.gatewaySettings());
    }
  }

  /** The socket of the client took the result, and the client never read it. */
  private void fetchesItsResultLater(Map<String, String> store) throws Exception {
    Map<String, String> settings = server.settings(store);
    settings.put("holdfast.stream.completed-ttl", "1s");
    settings.put("holdfast.cleanup-interval", "100ms");
    try (Gateway gateway = Gateway.start(settings)) {
      McpClient client = McpClient.at(gateway.url()).ready();
      FloodReader reader = FloodReader.of(10);
      reader.call(gateway.url(), client.session(), FloodServer.heldFlood(1, 2, 10, 2), 1);
      try (NonReadingClient frozen = NonReadingClient.connect(gateway.url())) {
        frozen.resume(client.session(), reader.lastId()).readUntil("\"n\":2,");
        frozen.readUntil("\n\n");
        server.release();
        await().until(() -> frozen.in().available() > 0);
        awaitNoLonger(client, endOf(client.post(FloodServer.echo(2)).body()));

        reader.resume(gateway.url(), client.session(), Integer.MAX_VALUE);

        reader.assertHasAll(2);
        assertThat(client.resumeWhole(reader.lastId()).statusCode()).isEqualTo(204);
        awaitNoLonger(client, reader.lastId());
      }
    }
  }

  private static String endOf(String stream) {
    return stream
        .lines()
        .filter(line -> line.startsWith("id:"))
        .toList()
        .getLast()
        .substring(3)
        .strip();
  }

  /** Waits until a stream that a client has read to its end is gone. */
  private static void awaitNoLonger(McpClient client, String id) {
    await().until(() -> client.resumeWhole(id).statusCode() != 204);
  }
}
