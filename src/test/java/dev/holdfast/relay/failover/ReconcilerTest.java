package dev.holdfast.relay.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.relay.failover.Reconciler.Check;
import dev.holdfast.testing.LoggedLines;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which checks run, and how often. */
@Timeout(30)
class ReconcilerTest {

  private final List<String> done = new CopyOnWriteArrayList<>();

  private Check check(String name) {
    return new Check(name, _ -> done.add(name));
  }

  @Test
  void shouldRunTheOtherChecksWhenOneFails() {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      Check failing =
          new Check(
              "failing",
              _ -> {
                throw new IllegalStateException("planted");
              });

      new Reconciler(List.of(check("first"), failing, check("last")), () -> true).reconcile();

      assertThat(done).containsExactly("first", "last");
      log.await("check failed unexpectedly check=failing");
    }
  }

  @Test
  void shouldRepeatOnlyTheCheckThatFoundTheStoreAway() {
    AtomicInteger attempts = new AtomicInteger();
    Check away =
        new Check(
            "away",
            _ -> {
              if (attempts.incrementAndGet() < 3) {
                throw new LogException.StoreUnavailable("planted", null);
              }
              done.add("away");
            });

    new Reconciler(List.of(check("first"), away), () -> true).reconcileSoon();

    await().untilAsserted(() -> assertThat(done).containsExactly("first", "away"));
    assertThat(attempts).hasValue(3);
  }

  @Test
  void shouldRunOnceMoreForCallsDuringARun() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Check slow =
        new Check(
            "slow",
            _ -> {
              started.countDown();
              awaitUninterrupted(goOn);
              done.add("slow");
            });
    Reconciler reconciler = new Reconciler(List.of(slow), () -> true);
    reconciler.reconcileSoon();
    started.await();

    reconciler.reconcileSoon();
    reconciler.reconcileSoon();
    goOn.countDown();

    await().untilAsserted(() -> assertThat(done).containsExactly("slow", "slow"));
  }

  /** A look at each session with each sweep would cost more than all else about idle ones. */
  @Test
  void shouldLookAtEachSessionInOneOfItsRuns() {
    List<LogKey> keys = IntStream.range(0, 500).mapToObj(i -> new LogKey("s" + i)).toList();
    List<LogKey> looked = new ArrayList<>();
    AtomicBoolean doubts = new AtomicBoolean();
    Reconciler reconciler =
        new Reconciler(
            List.of(new Check("look", due -> keys.stream().filter(due).forEach(looked::add))),
            doubts::get);

    for (int i = 0; i < Reconciler.PARTS; i++) {
      int before = looked.size();
      reconciler.reconcile();
      assertThat(looked.size() - before).isLessThan(keys.size() / 5);
    }
    assertThat(looked).containsExactlyInAnyOrderElementsOf(keys);

    looked.clear();
    doubts.set(true);
    reconciler.reconcile();
    assertThat(looked).isEqualTo(keys);
  }

  /** An error that ended a run once left the reconciler waiting for the end of that run. */
  @Test
  void shouldRunAgainAfterAnError() {
    AtomicInteger attempts = new AtomicInteger();
    Check failing =
        new Check(
            "failing",
            _ -> {
              if (attempts.incrementAndGet() == 1) {
                throw new AssertionError("planted");
              }
              done.add("again");
            });
    Reconciler reconciler = new Reconciler(List.of(failing), () -> true);
    reconciler.reconcileSoon();
    await().until(() -> attempts.get() == 1);

    reconciler.reconcileSoon();

    await().untilAsserted(() -> assertThat(done).containsExactly("again"));
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
