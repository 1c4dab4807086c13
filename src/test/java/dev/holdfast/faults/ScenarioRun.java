package dev.holdfast.faults;

import dev.holdfast.resume.ClientTimeouts;
import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Plays a scenario: clients work while the schedule is played, and go on until all have ended. */
final class ScenarioRun {

  /** How often a client tries to get an answer when all faults are over. */
  private static final int ATTEMPTS = 10;

  private static final Duration TO_START = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final Scenario scenario;
  private final FaultTestbed testbed;
  private final HttpClient http;
  private final ExecutorService threads;
  private final Queue<Transcript> calls = new ConcurrentLinkedQueue<>();
  private final Queue<Transcript> unanswered = new ConcurrentLinkedQueue<>();
  private final Queue<Transcript> listened = new ConcurrentLinkedQueue<>();
  private final AtomicInteger unwell = new AtomicInteger();
  private final AtomicBoolean over = new AtomicBoolean();

  /** Opens when each client has had an answer. */
  private final CountDownLatch working;

  private ScenarioRun(
      Scenario scenario, FaultTestbed testbed, HttpClient http, ExecutorService threads) {
    this.scenario = scenario;
    this.testbed = testbed;
    this.http = http;
    this.threads = threads;
    this.working = new CountDownLatch(scenario.load().sessions());
  }

  /**
   * Plays a scenario, reports, and fails if a promise was broken. Processes keep running for the
   * next scenario, until {@link FaultTestbed#closeLast}.
   */
  static void of(Scenario scenario) throws Exception {
    try {
      playAndJudge(scenario, FaultTestbed.of(scenario));
    } catch (Exception | AssertionError failed) {
      FaultTestbed.closeLast();
      throw failed;
    }
  }

  private static void playAndJudge(Scenario scenario, FaultTestbed testbed) throws Exception {
    try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      ScenarioRun run = new ScenarioRun(scenario, testbed, http, threads);
      long began = run.play();
      Verdict verdict =
          new Verdict(
              scenario,
              List.copyOf(run.calls),
              List.copyOf(run.listened),
              run.unanswered.size(),
              run.unwell.get(),
              began);
      verdict.report();
      verdict.require(testbed);
    }
  }

  /** Returns when the schedule began, by {@link System#nanoTime()}. */
  private long play() throws Exception {
    List<Future<?>> clients = new ArrayList<>();
    for (int i = 0; i < scenario.load().sessions(); i++) {
      Random random = new Random(scenario.schedule().seed() + i);
      clients.add(threads.submit(() -> workUntilOver(random)));
    }
    if (!working.await(TO_START.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("not all clients have begun: " + testbed.output());
    }
    LockSupport.parkNanos(scenario.load().warmUp().toNanos());
    long began = System.nanoTime();
    long end = began + scenario.load().span().toNanos();
    scenario.schedule().play(testbed, scenario.load().span());
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    over.set(true);
    for (Future<?> client : clients) {
      client.get();
    }
    return began;
  }

  /** Works in one session, and in another when that is gone, until all is well in the end. */
  private Void workUntilOver(Random random) throws Exception {
    ClientTimeouts patience = new ClientTimeouts(scenario.load().dead(), scenario.load().hung());
    for (int attempts = ATTEMPTS; attempts > 0; attempts -= over.get() ? 1 : 0) {
      try {
        if (work(client(random, patience), random)) {
          return null;
        }
      } catch (IOException away) {
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
    unwell.incrementAndGet();
    return null;
  }

  private FollowingClient client(Random random, ClientTimeouts patience)
      throws IOException, InterruptedException {
    List<URI> gateway = List.of(testbed.url());
    return scenario.sessions()
        ? new FollowingClient(http, gateway, random, patience)
        : FollowingClient.stateless(http, gateway, patience);
  }

  /** Works in one session; returns whether its last call, behind all faults, was answered. */
  private boolean work(FollowingClient client, Random random) throws Exception {
    Transcript heard = new Transcript();
    listened.add(heard);
    Random own = new Random(random.nextLong());
    // Scenarios may have one server, and the same random numbers.
    String name =
        Integer.toHexString(scenario.name().hashCode()) + Long.toHexString(random.nextLong());
    AtomicBoolean done = new AtomicBoolean();
    Future<?> listening =
        threads.submit(() -> {
          if (scenario.sessions()) {
            client.listen(heard, own, seen -> done.get());
          }
          return null;
        });
    boolean gone = client.call(scenario.load().shortCall(name, 0), random).refusedWith() == 404;
    working.countDown();
    if (!working.await(TO_START.toSeconds(), TimeUnit.SECONDS)) {
      return false;
    }
    int id = 1;
    for (; !gone && !over.get(); id++) {
      Transcript call = client.call(scenario.load().call(name, id), random);
      // Cut before it had any event id, a client knows of nothing to resume: it calls once more.
      boolean begun = call.isComplete() || call.isHung() || call.refusedWith() != 0;
      (begun || call.canResume() ? calls : unanswered).add(call);
      gone = call.refusedWith() == 404;
    }
    boolean well = !gone && client.call(scenario.load().shortCall(name, id), random).results() == 1;
    done.set(true);
    listening.get();
    if (scenario.sessions()) {
      leave(client, random);
    }
    return well;
  }

  /** Ends the session, so that nothing of it runs beside the next scenario. */
  private static void leave(FollowingClient client, Random random) throws InterruptedException {
    try {
      client.end(random);
    } catch (IOException away) {
      // It expires.
    }
  }
}
