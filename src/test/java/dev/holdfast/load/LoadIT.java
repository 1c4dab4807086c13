package dev.holdfast.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ResourceUsage;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Fifty clients call tools of three kinds of upstream at once: of the gateway itself, of a server
 * over Streamable HTTP, and of one that is a process per session. Five seconds in every build,
 * which judge no times; docs/load.md says how to run it for longer, and has the figures.
 */
@Timeout(value = 2, unit = TimeUnit.HOURS)
class LoadIT {

  private static final long SEED = Long.getLong("holdfast.seed", 20_251_125L);
  private static final Duration SHORT = Duration.ofSeconds(5);
  private static final Duration LASTS =
      Duration.parse(System.getProperty("holdfast.load", SHORT.toString()));
  private static final int CLIENTS = 50;

  private static final long MOST_MEMORY = 500_000_000;
  private static final Duration MOST_TIME = Duration.ofMillis(500);
  private static final double MOST_ERRORS = 0.001;

  /** What is looked up, loaded and opened once, when it is first needed. */
  private static final int SLACK = 16;

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration SAMPLE = Duration.ofSeconds(1);

  @Test
  void shouldServeFiftyClientsAndKeepNothing() throws Exception {
    try (RedisFixture redis = RedisFixture.start();
        NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        Gateway gateway = gateway(redis, server)) {
      load(gateway, Duration.ofSeconds(3)); // Opens what stays open.
      awaitQuiet(gateway, redis);
      ResourceUsage before = ResourceUsage.of(gateway);

      Load load = load(gateway, LASTS);

      System.out.println(load);
      awaitQuiet(gateway, redis);
      ResourceUsage after = ResourceUsage.of(gateway);
      System.out.printf("before: %s%nafter:  %s%n", before, after);
      assertThat(load.figures().errorRate())
          .as("%s%n%s", load, load.figures().errors())
          .isLessThan(MOST_ERRORS);
      if (LASTS.compareTo(SHORT) > 0) {
        assertThat(load.figures().percentile(95)).as(load.toString()).isLessThan(MOST_TIME);
      }
      assertThat(load.mostMemory()).as(load.toString()).isLessThan(MOST_MEMORY);
      assertThat(after.descriptors()).isLessThanOrEqualTo(before.descriptors() + SLACK);
      assertThat(after.threads()).isLessThanOrEqualTo(before.threads() + SLACK);
    }
  }

  private static Gateway gateway(RedisFixture redis, NodeFixture server) {
    return Gateway.start(
        redis.gatewaySettings(
            "holdfast.upstreams.web.url",
            server.url().toString(),
            "holdfast.upstreams.program.command",
            NodeFixture.commandLine(NodeFixture.CONFORMANCE_STDIO),
            "holdfast.merge.enabled",
            "false"),
        "-Xmx256m",
        // What runs for seconds is compiled fast, not well.
        "-XX:TieredStopAtLevel=" + (LASTS.compareTo(SHORT) > 0 ? 4 : 1));
  }

  private record Load(LoadResults figures, long mostMemory) {
    @Override
    public String toString() {
      return "%d clients for %s: %s memory=%.0fMB"
          .formatted(CLIENTS, LASTS, figures, mostMemory / 1e6);
    }
  }

  private static Load load(Gateway gateway, Duration lasts) throws Exception {
    LoadResults figures = new LoadResults();
    long deadline = System.nanoTime() + lasts.toNanos();
    long mostMemory = 0;
    // Closed in the end, with all its connections.
    try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> callers = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        callers.add(threads.submit(caller(gateway, http, i, deadline, figures)));
      }
      while (callers.stream().anyMatch(caller -> !caller.isDone())) {
        mostMemory = Math.max(mostMemory, ResourceUsage.resident(gateway.pid()));
        Thread.sleep(SAMPLE);
      }
      for (Future<?> caller : callers) {
        caller.get();
      }
    }
    return new Load(figures, mostMemory);
  }

  private static LoadClient caller(
      Gateway gateway, HttpClient http, int number, long deadline, LoadResults figures) {
    Random random = new Random(SEED + number);
    return switch (number % 3) {
      case 0 -> new LoadClient(http, gateway.url(), "countdown", random, deadline, figures);
      case 1 -> new LoadClient(http, named(gateway, "web"), "count", random, deadline, figures);
      default ->
          new LoadClient(http, named(gateway, "program"), "count", random, deadline, figures);
    };
  }

  private static URI named(Gateway gateway, String upstream) {
    return gateway.url("/servers/" + upstream + "/mcp");
  }

  /** No process, no session, nothing of a call or a stream. */
  private static void awaitQuiet(Gateway gateway, RedisFixture redis) {
    ProcessHandle process = ProcessHandle.of(gateway.pid()).orElseThrow();
    await()
        .atMost(PATIENCE)
        .pollInterval(SAMPLE)
        .untilAsserted(() -> {
          assertThat(process.descendants()).isEmpty();
          assertThat(ResourceUsage.of(gateway).leftovers()).isEmpty();
          assertThat(redis.keys()).noneMatch(key -> key.contains("{")); // Those of sessions.
        });
  }
}
