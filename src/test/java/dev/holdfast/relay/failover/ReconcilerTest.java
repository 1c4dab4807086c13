package dev.holdfast.relay.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogException;
import dev.holdfast.relay.failover.Reconciler.Check;
import dev.holdfast.testing.LoggedLines;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which checks run, and how often. */
@Timeout(30)
class ReconcilerTest {

  private final List<String> done = new CopyOnWriteArrayList<>();

  private Check check(String name) {
    return new Check(name, () -> done.add(name));
  }

  @Test
  void shouldRunTheOtherChecksWhenOneFails() {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      Check failing =
          new Check(
              "failing",
              () -> {
                throw new IllegalStateException("planted");
              });

      new Reconciler(List.of(check("first"), failing, check("last"))).reconcile();

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
            () -> {
              if (attempts.incrementAndGet() < 3) {
                throw new LogException.StoreUnavailable("planted", null);
              }
              done.add("away");
            });

    new Reconciler(List.of(check("first"), away)).reconcileSoon();

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
            () -> {
              started.countDown();
              awaitUninterrupted(goOn);
              done.add("slow");
            });
    Reconciler reconciler = new Reconciler(List.of(slow));
    reconciler.reconcileSoon();
    started.await();

    reconciler.reconcileSoon();
    reconciler.reconcileSoon();
    goOn.countDown();

    await().untilAsserted(() -> assertThat(done).containsExactly("slow", "slow"));
  }

  /** An error that ended a run once left the reconciler waiting for the end of that run. */
  @Test
  void shouldRunAgainAfterAnError() {
    AtomicInteger attempts = new AtomicInteger();
    Check failing =
        new Check(
            "failing",
            () -> {
              if (attempts.incrementAndGet() == 1) {
                throw new AssertionError("planted");
              }
              done.add("again");
            });
    Reconciler reconciler = new Reconciler(List.of(failing));
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
