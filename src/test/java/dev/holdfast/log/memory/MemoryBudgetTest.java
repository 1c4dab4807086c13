package dev.holdfast.log.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Room in a full budget: the order in which writers get it, and the sessions that make it. */
class MemoryBudgetTest {

  private static final int MAX = 1000;

  private final MemoryBudget budget = new MemoryBudget(MAX, Long.MAX_VALUE);
  private final MemoryBudget.Account account = budget.open("c", (_, _) -> false);
  private volatile boolean stopped;

  MemoryBudgetTest() {
    account.add(1, MAX);
  }

  @AfterEach
  void stop() {
    stopped = true;
    budget.wakeWaiting();
  }

  /** Starts a writer that waits for room, and writes when it has it. */
  private Thread waiting(long needed) {
    Thread writer =
        Thread.ofPlatform()
            .start(() -> {
              try {
                if (budget.take(account, needed, () -> stopped)) {
                  account.add(1, needed);
                  budget.giveBack(needed);
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    await().until(() -> writer.getState() == Thread.State.TIMED_WAITING || !writer.isAlive());
    return writer;
  }

  /** A short call once waited until each of many floods had written a batch. */
  @Test
  void shouldLetAShortMessageGoBeforeLargeOnes() {
    Thread first = waiting(MAX / 2);
    Thread second = waiting(MAX / 2);
    Thread small = waiting(10);

    account.add(0, -10);

    await().until(() -> !small.isAlive());
    assertThat(first.isAlive()).isTrue();
    assertThat(second.isAlive()).isTrue();
  }

  /** A session that gives up all of its events at once. */
  private static final class FinishedSession implements MemoryBudget.Purger {

    private final MemoryBudget.Account account;
    private final long bytes;

    private FinishedSession(MemoryBudget budget, String client, long bytes) {
      account = budget.open(client, this);
      this.bytes = bytes;
      account.add(1, bytes);
      account.offer(MemoryBudget.Kind.OTHER, true);
    }

    @Override
    public boolean purge(MemoryBudget.Kind kind, boolean writing) {
      account.add(-1, -bytes);
      account.offer(kind, false);
      return true;
    }
  }

  /** In a sorted set, one of two sessions or clients in the same place would be forgotten. */
  @ParameterizedTest
  @ValueSource(strings = {"first", "second"})
  void shouldPurgeAllSessionsOfEqualSize(String client) {
    var _ = new FinishedSession(budget, "first", 10);
    var _ = new FinishedSession(budget, client, 10);

    budget.purgeOverflow(account);

    assertThat(budget.size().bytes()).hasValue(MAX);
  }

  @Test
  void shouldNotLetShortMessagesHoldBackALargeOneForever() {
    Thread large = waiting(MAX / 2);
    for (int n = 10; n < MAX / 2; n += 10) {
      Thread small = waiting(10);
      account.add(0, -10);
      await().until(() -> !small.isAlive());
    }
    Thread late = waiting(10);

    account.add(0, -MAX / 2);

    await().until(() -> !large.isAlive());
    assertThat(late.isAlive()).isTrue();
  }
}
