package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Three replicas, of which one after the other is killed and started again, while calls run. With
 * {@code -Dholdfast.faults=long} for a minute and with many sessions, otherwise shortly.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class KillLoopIT {

  private static final long SEED = Long.getLong("holdfast.seed", 20_251_125L);
  private static final boolean LONG = "long".equals(System.getProperty("holdfast.faults"));
  private static final Duration SPAN = Duration.ofSeconds(LONG ? 60 : 20);
  private static final Duration BETWEEN_KILLS = Duration.ofSeconds(3);
  private static final int SESSIONS = Integer.getInteger("holdfast.sessions", LONG ? 60 : 12);
  private static final int STEP_MILLIS = LONG ? 10 : 25;
  private static final int STEPS = 4000 / STEP_MILLIS;
  private static final List<Integer> ALL = IntStream.rangeClosed(1, STEPS).boxed().toList();

  /** From a kill to the definite end, or to the next event, of a call that it hit. */
  private static final Duration SETTLED = Duration.ofSeconds(5);

  private static final int REPLICAS = 3;

  private final AtomicBoolean over = new AtomicBoolean();

  @Test
  void shouldCompleteEveryCallThatTheServerCanResume() throws Exception {
    try (Fleet fleet = new Fleet(REPLICAS)) {
      List<Transcript> calls = run(fleet);

      for (Transcript call : calls) {
        String story = "seed " + SEED + "\n" + call;
        assertThat(call.progress()).as(story).isEqualTo(ALL);
        assertThat(call.results()).as(story).isEqualTo(1);
        assertThat(call.ids()).as(story).doesNotHaveDuplicates();
      }
      assertThat(calls).hasSizeGreaterThanOrEqualTo(SESSIONS);
    }
  }

  @Test
  void shouldEndEveryCallWithItsResultOrWithAnError() throws Exception {
    try (Fleet fleet = new Fleet(REPLICAS, "--resumable", "false")) {
      List<Transcript> calls = run(fleet);

      for (Transcript call : calls) {
        String story = "seed " + SEED + "\n" + call;
        assertThat(call.progress()).as(story).isEqualTo(ALL.subList(0, call.progress().size()));
        assertThat(call.results() + call.errors().size()).as(story).isEqualTo(1);
        assertThat(call.ids()).as(story).doesNotHaveDuplicates();
        assertThat(call.longestSilence()).as(story).isLessThan(SETTLED);
      }
    }
  }

  private List<Transcript> run(Fleet fleet) throws Exception {
    List<Transcript> transcripts = new ArrayList<>();
    try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<List<Transcript>>> clients = new ArrayList<>();
      for (int i = 0; i < SESSIONS; i++) {
        Random random = new Random(SEED + i);
        FollowingClient client = new FollowingClient(http, fleet.urls(), random);
        clients.add(threads.submit(() -> callUntilOver(client, random)));
      }
      kill(fleet);
      over.set(true);
      for (Future<List<Transcript>> client : clients) {
        transcripts.addAll(client.get());
      }
    }
    report(transcripts);
    return transcripts;
  }

  /** One after the other, in an order that the seed decides. */
  private static void kill(Fleet fleet) {
    Random random = new Random(SEED);
    long end = System.nanoTime() + SPAN.toNanos();
    int victim = random.nextInt(REPLICAS);
    while (System.nanoTime() < end) {
      long next = System.nanoTime() + BETWEEN_KILLS.toNanos();
      fleet.replica(victim).kill();
      fleet.restart(victim);
      while (System.nanoTime() < next) {
        LockSupport.parkNanos(next - System.nanoTime());
      }
      // Never the same twice: it would not have taken over anything yet.
      victim = (victim + 1 + random.nextInt(REPLICAS - 1)) % REPLICAS;
    }
  }

  private List<Transcript> callUntilOver(FollowingClient client, Random random)
      throws InterruptedException {
    List<Transcript> transcripts = new ArrayList<>();
    for (int id = 1; !over.get(); id++) {
      Transcript transcript = client.call(count(id), random);
      // Cut before it had any event id, a client knows of nothing to resume: it calls once more.
      if (!transcript.lastEventId().isEmpty()) {
        transcripts.add(transcript);
      }
    }
    return transcripts;
  }

  private static void report(List<Transcript> calls) {
    System.out.printf(
        "seed %d: %d calls, %d results, %d errors, longest silence %d ms%n",
        SEED,
        calls.size(),
        calls.stream().mapToInt(Transcript::results).sum(),
        calls.stream().mapToInt(call -> call.errors().size()).sum(),
        calls.stream().mapToLong(call -> call.longestSilence().toMillis()).max().orElse(0));
  }

  private static String count(int id) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"count",\
    "arguments":{"n":%d,"intervalMs":%d},"_meta":{"progressToken":%d}}}\
    """
        .formatted(id, STEPS, STEP_MILLIS, id);
  }
}
