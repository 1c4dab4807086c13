package dev.holdfast.faults;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ResourceUsage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Hundreds of clients that misbehave, at a gateway with a small heap, while others work. Prints how
 * long calls of the others take, alone and beside them.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class MisbehavingClientsIT {

  private static final int PER_SESSION = 50;
  private static final int EVENTS = 700;
  private static final int BYTES = 8000;
  private static final int LARGE = 64_000;

  /** Together about as much as two cores can carry, and more than sockets hold. */
  private static final int PAUSE_MILLIS = 40;

  private static final Duration SETTLED = Duration.ofMinutes(3);
  private static final long HEAP_SLACK = 12_000_000;

  @SuppressWarnings("NullAway.Init")
  private static RedisFixture redis;

  @SuppressWarnings("NullAway.Init")
  private static FloodServer server;

  @SuppressWarnings("NullAway.Init")
  private static Gateway gateway;

  @SuppressWarnings("NullAway.Init")
  private static ResourceUsage before;

  private final WellBehavedClients good = new WellBehavedClients(gateway.url());
  private final List<McpClient> sessions = new ArrayList<>();
  private final Queue<NonReadingClient> misbehaving = new ConcurrentLinkedQueue<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean over;

  @SuppressWarnings("NullAway.Init")
  private WellBehavedClients.Latency alone;

  @BeforeAll
  static void start() throws Exception {
    redis = RedisFixture.start();
    server = new FloodServer();
    gateway =
        Gateway.start(
            redis.gatewaySettings(
                "holdfast.upstream.url",
                server.url().toString(),
                "holdfast.stream.max-events",
                "500",
                "holdfast.stream.write-timeout",
                "15s"),
            "-Xmx128m",
            "-XX:+ExitOnOutOfMemoryError",
            // What a JVM chooses in a container of this size.
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=" + (LongRun.REQUESTED ? 4 : 1));
    try (WellBehavedClients first = new WellBehavedClients(gateway.url())) {
      first.work();
    }
    before = ResourceUsage.of(gateway);
  }

  @BeforeEach
  void workAlone() throws Exception {
    alone = good.work();
  }

  @AfterAll
  static void stop() {
    gateway.close();
    server.close();
    redis.close();
  }

  @AfterEach
  void leave() {
    over = true;
    misbehaving.forEach(NonReadingClient::close);
    threads.forEach(Thread::interrupt);
    sessions.forEach(McpClient::delete);
    good.close();
  }

  private McpClient session() {
    McpClient session = McpClient.at(gateway.url());
    sessions.add(session);
    return session;
  }

  private NonReadingClient connect() {
    NonReadingClient client = NonReadingClient.connect(gateway.url());
    misbehaving.add(client);
    return client;
  }

  private void forever(Runnable misbehaviour) {
    threads.add(
        Thread.ofVirtual()
            .start(() -> {
              while (!over) {
                try {
                  misbehaviour.run();
                } catch (UncheckedIOException cutOff) {
                  // The gateway may cut it off.
                }
              }
            }));
  }

  /** The others work beside misbehaving clients, which then leave without a trace. */
  private void assertUndisturbed(String who) throws Exception {
    assertUndisturbed(who, () -> true);
  }

  /** As above, but misbehaving clients leave only when {@code worst} holds. */
  private void assertUndisturbed(String who, Callable<Boolean> worst) throws Exception {
    WellBehavedClients.Latency beside = workBeside();
    await().atMost(SETTLED.multipliedBy(2)).until(worst);
    ResourceUsage during = ResourceUsage.of(gateway);
    leave();
    await().atMost(SETTLED).until(() -> metric("holdfast_connections_active") == 0);
    await()
        .atMost(SETTLED)
        .pollInterval(Duration.ofSeconds(1))
        .untilAsserted(() -> assertThat(ResourceUsage.of(gateway).leftovers()).isEmpty());
    ResourceUsage after = ResourceUsage.of(gateway);
    System.out.printf(
        "| %s | %.1f / %.1f ms | %.1f / %.1f ms | %.1f / %.1f | %.0f / %.0f / %.0f MB |%n",
        who,
        alone.p50(),
        alone.p99(),
        beside.p50(),
        beside.p99(),
        beside.p50() / alone.p50(),
        beside.p99() / alone.p99(),
        before.heap() / 1e6,
        during.heap() / 1e6,
        after.heap() / 1e6);
    assertThat(after.heap()).isLessThan(before.heap() + HEAP_SLACK);
    assertThat(gateway.output()).doesNotContain("OutOfMemory", "ERROR");
  }

  private WellBehavedClients.Latency workBeside() throws Exception {
    try {
      return good.work();
    } catch (Exception disturbed) {
      throw new AssertionError("the gateway has said:\n" + gateway.output(), disturbed);
    }
  }

  private double metric(String name) {
    return gateway.metric(name + " ").orElse(0);
  }

  /** In a build half as many, for half the time, of events twice as large. */
  @Test
  void shouldTolerateClientsThatNeverRead() throws Exception {
    int clients = LongRun.REQUESTED ? 200 : 100;
    int events = LongRun.REQUESTED ? EVENTS : EVENTS / 2;
    int bytes = LongRun.REQUESTED ? BYTES : BYTES * 2;
    for (int i = 0; i < clients; i++) {
      McpClient session = i % PER_SESSION == 0 ? session() : sessions.getLast();
      connect().post(session.session(), FloodServer.flood(i + 1, events, bytes, PAUSE_MILLIS));
    }
    await().atMost(SETTLED).until(() -> metric("holdfast_connections_active") == clients);

    assertUndisturbed(clients + " that never read a fast stream");
  }

  @Test
  void shouldTolerateClientsThatReadAByteASecond() throws Exception {
    int clients = LongRun.REQUESTED ? 40 : 30;
    McpClient session = session();
    for (int i = 0; i < clients; i++) {
      // 9.6 MB: a socket takes 4 of them, and what is left of all is more than the heap.
      String flood = FloodServer.flood(i + 1, 150, LARGE, LongRun.REQUESTED ? 100 : 60);
      NonReadingClient slow = connect().post(session.session(), flood);
      forever(() -> {
        pause(1000);
        read(slow);
      });
    }
    await().atMost(SETTLED).until(() -> metric("holdfast_connections_active") == clients);

    assertUndisturbed(
        clients + " that read a byte a second of a fast stream",
        () -> server.floodsOf(LARGE) >= clients);
  }

  @Test
  void shouldTolerateThousandsOfConnections() throws Exception {
    for (int i = 0; i < 2000; i++) {
      NonReadingClient slow = connect();
      if (i % 2 == 0) {
        slow.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ".getBytes(US_ASCII));
        forever(() -> {
          pause(1000);
          slow.send(new byte[] {'x'});
        });
      }
    }

    assertUndisturbed("1000 idle connections, 1000 that send a byte of a head a second");
  }

  @Test
  void shouldTolerateClientsThatReplayOverAndOver() throws Exception {
    for (int i = 0; i < 16; i++) {
      McpClient session = session();
      String start = wholeStream(session);
      forever(() -> {
        try (var stream = session.resume(start)) {
          assertThat(stream.rest()).isNotEmpty();
        }
      });
    }

    assertUndisturbed("16 that replay 100 events in a loop");
  }

  @Test
  void shouldTolerateClientsThatResumeOneStreamFromTwoPlaces() throws Exception {
    AtomicInteger resumed = new AtomicInteger();
    for (int i = 0; i < 20; i++) {
      McpClient session = session();
      String start;
      try (var call = session.stream(FloodServer.flood(1, 100_000, 100, 20))) {
        start = call.event().id();
      }
      for (int place = 0; place < 2; place++) {
        forever(() -> {
          try (var stream = session.resume(start)) {
            stream.next();
            resumed.incrementAndGet();
            stream.rest();
          }
        });
      }
    }
    await().until(() -> resumed.get() > 100);

    assertUndisturbed("20 that resume one stream from two places, and ignore retry");
  }

  @Test
  void shouldTolerateASessionThatOpensManyStreams() throws Exception {
    McpClient session = session();
    AtomicInteger refused = new AtomicInteger();
    // Fewer than the sockets that one address may have.
    int streams = LongRun.REQUESTED ? 1500 : 300;
    for (int i = 0; i < streams; i++) {
      NonReadingClient client =
          connect().post(session.session(), FloodServer.flood(i, 100_000, 10, 500));
      if (client.readUntil(" 200 ", " 429 ").endsWith(" 429 ")) {
        refused.incrementAndGet();
      }
    }
    assertThat(refused).hasValue(streams - 64);

    assertUndisturbed("one that opens " + streams + " streams");
  }

  /** A stream that is complete; gives the cursor before its first event. */
  private static String wholeStream(McpClient session) {
    try (var stream = session.stream(FloodServer.flood(1, 100, BYTES / 2, 0))) {
      String first = stream.events().getFirst().id();
      return first.substring(0, first.indexOf('_')) + "_0-0";
    }
  }

  private static void read(NonReadingClient client) {
    try {
      if (client.in().read() < 0) {
        throw new IOException("the end");
      }
    } catch (IOException cutOff) {
      throw new UncheckedIOException(cutOff);
    }
  }

  private static void pause(int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
