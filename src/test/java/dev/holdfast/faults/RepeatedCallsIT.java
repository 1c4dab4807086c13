package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.faults.server.CountingServer;
import dev.holdfast.testing.CuttableRequest;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RepeatingClient;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Clients that are cut off, or whose replica is killed, repeat their calls, and the server executes
 * each once. {@code -Dholdfast.repeated-calls=1000} makes more calls.
 */
@Tag("alone")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class RepeatedCallsIT {

  private static final int CALLS = Integer.getInteger("holdfast.repeated-calls", 300);
  private static final int AT_ONCE = 16;
  private static final int MOST_CUTS = 3;
  private static final int MOST_TRIES = 60;
  private static final AccessKey KEY = AccessKey.random();

  private final List<Gateway> replicas = new CopyOnWriteArrayList<>();
  private final AtomicInteger cuts = new AtomicInteger();
  private final Queue<String> unknown = new ConcurrentLinkedQueue<>();

  /** What happened, in lines that begin with a call or a replica. */
  private final Queue<String> history = new ConcurrentLinkedQueue<>();

  private final long begun = System.nanoTime();

  private void note(String who, String what) {
    history.add("%s at %d ms: %s".formatted(who, (System.nanoTime() - begun) / 1_000_000, what));
  }

  /** The history of calls that the server got twice, and of the replicas. */
  private String historyOf(String repeated) {
    return history.stream()
        .filter(line -> line.startsWith("http") || repeated.contains('"' + callOf(line) + '"'))
        .collect(Collectors.joining("\n"));
  }

  private static String callOf(String line) {
    return line.substring(0, line.indexOf(' '));
  }

  private URI any(Random random) {
    return replicas.get(random.nextInt(replicas.size())).url();
  }

  /** A third has no session, a third keeps its session, and a third opens one for each try. */
  private RepeatingClient client(int number, URI url) throws IOException {
    return number % 3 == 0
        ? RepeatingClient.withoutSession(url, KEY.value())
        : RepeatingClient.withSession(url, KEY.value());
  }

  private void call(int number) throws InterruptedException {
    Random random = new Random(number);
    String arguments = "{\"n\":5,\"intervalMs\":200,\"key\":\"call-" + number + "\"}";
    RepeatingClient client = null;
    String last = "";
    for (int attempt = 1; attempt <= MOST_TRIES; attempt++) {
      int id = number * 100 + attempt;
      try {
        URI url = any(random);
        note("call-" + number, "try " + attempt + " at " + url);
        client = client == null || number % 3 == 1 ? client(number, url) : client.elsewhere(url);
        try (CuttableRequest request = client.call(id, "count", arguments)) {
          boolean ends = attempt > MOST_CUTS || request.endsWithin(random.nextInt(1500));
          last = ends ? request.response() : request.cut();
          cuts.addAndGet(ends ? 0 : 1);
          note("call-" + number, (ends ? "ended: " : "cut: ") + last);
        }
        if (last.contains("\"id\":" + id + ",") && last.contains("\"result\":")) {
          return;
        }
        if (last.contains("\"error\"") && last.startsWith("HTTP/1.1 200")) {
          unknown.add(number + ": " + last);
          return;
        }
      } catch (IOException away) {
        last = away.toString();
        note("call-" + number, last);
      }
      Thread.sleep(50);
    }
    throw new AssertionError("call " + number + " has no result: " + last);
  }

  private static Map<String, String> settings(RedisFixture redis, CountingServer server) {
    return redis.gatewaySettings(
        "holdfast.limits.sessions-per-address",
        "10000",
        "holdfast.upstream.url",
        server.url().toString(),
        "holdfast.calls.attach-window",
        "10m",
        "holdfast.eras.cancel-grace",
        "5m",
        "holdfast.limits.streams-per-session",
        "1000",
        "holdfast.auth.keys.tester.hash",
        KEY.hash());
  }

  @Test
  void shouldExecuteEachCallOnce() throws Exception {
    try (RedisFixture redis = RedisFixture.start();
        CountingServer server = CountingServer.start(true);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Map<String, String> settings = settings(redis, server);
      replicas.addAll(Gateway.startAll(List.of(settings, settings, settings)));
      AtomicBoolean over = new AtomicBoolean();
      Future<Integer> kills = threads.submit(() -> killEveryThreeSeconds(settings, over));
      Semaphore atOnce = new Semaphore(AT_ONCE);
      List<Future<?>> calls = new CopyOnWriteArrayList<>();
      for (int number = 1; number <= CALLS; number++) {
        int each = number;
        atOnce.acquire();
        calls.add(
            threads.submit(() -> {
              try {
                call(each);
              } finally {
                atOnce.release();
              }
              return each;
            }));
      }
      try {
        for (Future<?> call : calls) {
          var _ = call.get();
        }
      } finally {
        over.set(true);
      }
      int killed = kills.get();

      String repeated = server.repeatedCalls();
      assertThat(repeated).as(historyOf(repeated)).isEmpty();
      assertThat(cuts).hasPositiveValue();
      assertThat(killed).isPositive();
      // A replica that is lost in the moment in which it calls the server cannot know the outcome.
      assertThat(unknown).hasSizeLessThanOrEqualTo(killed);
    } finally {
      replicas.forEach(Gateway::close);
    }
  }

  private int killEveryThreeSeconds(Map<String, String> settings, AtomicBoolean over)
      throws InterruptedException {
    int killed = 0;
    while (!over.get()) {
      Thread.sleep(3000);
      Gateway next = Gateway.start(settings);
      Gateway old = replicas.get(killed % replicas.size());
      old.kill();
      note(old.url().toString(), "killed; its place has " + next.url());
      replicas.set(killed % replicas.size(), next);
      killed++;
    }
    return killed;
  }
}
