package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls with more events than fit into memory. A page of 128 such events once made each resumption
 * fail, and four of them ended the gateway.
 */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class LargeReplayIT {

  private static final int EVENTS = 150;
  private static final int BYTES = 1_000_000;
  private static final int BEFORE_THE_CUT = 20;
  private static final int CALLS = 2;

  private final RedisFixture redis = RedisFixture.start();
  private final FloodServer server = new FloodServer();
  private final List<Gateway> gateways = new ArrayList<>();

  @BeforeEach
  void start() {
    for (int i = 0; i < 2; i++) {
      gateways.add(
          Gateway.start(
              redis.gatewaySettings("holdfast.upstream.url", server.url().toString()),
              "-Xmx128m",
              "-XX:+ExitOnOutOfMemoryError",
              "-XX:+UseSerialGC",
              "-XX:TieredStopAtLevel=1"));
    }
  }

  @AfterEach
  void stop() {
    gateways.forEach(Gateway::close);
    server.close();
    redis.close();
  }

  @Test
  void shouldResumeOnAnotherReplicaInBoundedMemory() throws Exception {
    List<Callable<FloodReader>> calls = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      calls.add(this::callCutAndResume);
    }

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<FloodReader> call : threads.invokeAll(calls)) {
        assertThat(call.get().seen()).isEqualTo(EVENTS);
        assertThat(call.get().isComplete()).isTrue();
      }
    }

    assertThat(gateways).allMatch(Gateway::isReady);
  }

  private FloodReader callCutAndResume() throws IOException, InterruptedException {
    String session = McpClient.at(gateways.getFirst().url()).ready().session();
    String call = FloodServer.flood(1, EVENTS, BYTES, 0);
    FloodReader reader = FloodReader.of(BYTES);
    reader.call(gateways.getFirst().url(), session, call, BEFORE_THE_CUT);
    assertThat(reader.seen()).isEqualTo(BEFORE_THE_CUT);
    while (!reader.isComplete()) {
      int before = reader.seen();
      reader.resume(gateways.getLast().url(), session, Integer.MAX_VALUE);
      if (reader.head().startsWith("503")) {
        // Redis may take long on a busy machine. Retry-After says one second.
        Thread.sleep(1000);
        continue;
      }
      assertThat(reader.isComplete() || reader.seen() > before)
          .as("%s makes progress\n%s", reader, gateways.getLast().output())
          .isTrue();
    }
    return reader;
  }
}
