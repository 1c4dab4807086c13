package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import dev.holdfast.testing.RedisFixture;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jboss.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server sends more events than a stream may keep, and sends them faster than its client reads.
 * With the limits by default.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class FlowControlFaultsIT {

  private static final int BURST = LongRun.REQUESTED ? 400_000 : 40_000;

  /** More than a stream may keep; a slow reader needs longer. */
  private static final int SLOW = LongRun.REQUESTED ? 40_000 : 15_000;

  private static final int BYTES = 350;

  private static final int READERS = 16;

  /** Events of each of many floods at a time. */
  private static final int MANY = 15_000;

  /** Time for which new floods begin. */
  private static final Duration BESIDE = LongRun.REQUESTED ? Duration.ofMinutes(10) : Duration.ZERO;

  private static final Logger LOG = Logger.getLogger(FlowControlFaultsIT.class);

  /** The first connection of a client that moves gets half of what the server sends at first. */
  private static final int HELD = 10;

  private static final int ALL = Integer.MAX_VALUE;

  private final FloodServer server = new FloodServer();

  @AfterEach
  void stop() {
    server.close();
  }

  private List<Gateway> pair(RedisFixture redis) {
    return Gateway.startPair(server.settings(redis.gatewaySettings()));
  }

  @Test
  void shouldDeliverEveryEventFromMemory() throws Exception {
    try (Gateway gateway = Gateway.start(server.settings(Map.of()))) {
      each(() -> fast(gateway), BURST, () -> slow(gateway), SLOW);
    }
  }

  @Test
  void shouldDeliverEveryEventFromRedis() throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      List<Gateway> gateways = pair(redis);
      try {
        each(() -> fast(gateways.getFirst()), BURST, () -> slow(gateways.getFirst()), SLOW);
        each(() -> fastElsewhere(gateways), BURST, () -> slowElsewhere(gateways), SLOW);
      } finally {
        gateways.forEach(Gateway::close);
      }
    }
  }

  /**
   * No connected client gets a gap, however many there are, and whatever is written beside them.
   */
  @ParameterizedTest
  @ValueSource(strings = {"memory", "redis"})
  void shouldDeliverEveryEventOfManyFloodsBesideShortCalls(String store) throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      Map<String, String> settings =
          Map.of("holdfast.store", store, "quarkus.redis.hosts", redis.url());
      try (Gateway gateway = Gateway.start(server.settings(settings))) {
        Instant end = Instant.now().plus(BESIDE);
        AtomicInteger floods = new AtomicInteger();
        AtomicInteger calls = new AtomicInteger();
        CountDownLatch reading = new CountDownLatch(READERS);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
          List<Callable<Void>> clients = new ArrayList<>();
          clients.addAll(Collections.nCopies(READERS, () -> floods(gateway, end, floods, reading)));
          clients.addAll(Collections.nCopies(4, () -> shortCalls(gateway, reading, calls)));
          for (Future<Void> client : threads.invokeAll(clients)) {
            client.get();
          }
        }
        LOG.infof("store=%s floods=%d short calls=%d", store, floods.get(), calls.get());
        assertThat(floods).hasValueGreaterThanOrEqualTo(READERS);
        assertThat(calls).hasPositiveValue();
      }
    }
  }

  private static Void floods(
      Gateway gateway, Instant end, AtomicInteger count, CountDownLatch reading) throws Exception {
    try {
      String session = McpClient.at(gateway.url()).ready().session();
      for (int id = 1; id == 1 || Instant.now().isBefore(end); id++) {
        FloodReader reader = FloodReader.of(BYTES);
        String call = FloodServer.flood(id, MANY, BYTES, 0);
        reader.call(gateway.url(), session, call, ALL).assertHasAll(MANY);
        count.incrementAndGet();
      }
    } finally {
      reading.countDown();
    }
    return null;
  }

  private static Void shortCalls(Gateway gateway, CountDownLatch reading, AtomicInteger count) {
    McpClient client = McpClient.at(gateway.url()).ready();
    while (reading.getCount() > 0) {
      assertThat(client.post(FloodServer.echo(1)).body()).contains("\"result\"");
      count.incrementAndGet();
    }
    return null;
  }

  /** The writer must wait for a reader whose replica is gone until the client is back. */
  @Test
  void shouldDeliverEveryEventWhenTheReplicaOfTheReaderIsKilled() throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      List<Gateway> gateways = pair(redis);
      try {
        URI left = gateways.getFirst().url();
        String session = McpClient.at(left).ready().session();
        FloodReader reader = FloodReader.slow(BYTES);
        moveTo(gateways.getLast(), reader, session, left, SLOW, SLOW / 3);
        gateways.getLast().kill();

        reader.resume(left, session, ALL).assertHasAll(SLOW);
      } finally {
        gateways.forEach(Gateway::close);
      }
    }
  }

  private static void each(
      Callable<FloodReader> one, int events, Callable<FloodReader> other, int otherEvents)
      throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<FloodReader>> readers = threads.invokeAll(List.of(one, other));
      readers.getFirst().get().assertHasAll(events);
      readers.getLast().get().assertHasAll(otherEvents);
    }
  }

  private static FloodReader fast(Gateway gateway) throws Exception {
    String session = McpClient.at(gateway.url()).ready().session();
    return FloodReader.of(BYTES)
        .call(gateway.url(), session, FloodServer.flood(1, BURST, BYTES, 0), ALL);
  }

  private static FloodReader slow(Gateway gateway) throws Exception {
    String session = McpClient.at(gateway.url()).ready().session();
    try (NonReadingClient client = NonReadingClient.connect(gateway.url())) {
      client.post(session, FloodServer.flood(1, SLOW, BYTES, 0));
      return FloodReader.slow(BYTES).read(client.body(), ALL);
    }
  }

  private FloodReader fastElsewhere(List<Gateway> gateways) throws Exception {
    URI writer = gateways.getFirst().url();
    String session = McpClient.at(writer).ready().session();
    FloodReader reader = FloodReader.of(BYTES);
    String call = FloodServer.heldFlood(1, BURST, BYTES, HELD);
    reader.call(writer, session, call, HELD / 2);
    return reader.at(HELD, server::release).resume(gateways.getLast().url(), session, ALL);
  }

  private FloodReader slowElsewhere(List<Gateway> gateways) throws Exception {
    URI writer = gateways.getFirst().url();
    String session = McpClient.at(writer).ready().session();
    FloodReader reader = FloodReader.slow(BYTES);
    return moveTo(gateways.getLast(), reader, session, writer, SLOW, ALL);
  }

  /** Calls at one replica, and reads at another one. The server waits for the move. */
  private FloodReader moveTo(
      Gateway other, FloodReader reader, String session, URI writer, int events, int most)
      throws Exception {
    reader.call(writer, session, FloodServer.heldFlood(1, events, BYTES, HELD), HELD / 2);
    try (NonReadingClient client = NonReadingClient.connect(other.url())) {
      client.resume(session, reader.lastId());
      return reader.at(HELD, server::release).read(client.body(), most);
    }
  }
}
