package dev.holdfast.log.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.memory.MemoryBudget.Kind;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Bounds on what the memory store does while others wait for a lock. */
class MemoryStepsTest {

  private static final int MANY = 4 * MemorySession.STEP;

  /** Bytes of each account. Those of two exceed the budget. */
  private static final long LARGE = 1000;

  private final MemoryBudget budget = new MemoryBudget(LARGE, Long.MAX_VALUE);
  private final AtomicInteger asked = new AtomicInteger();

  /**
   * A session that counts how often a thread takes its lock, and how often it asks for the time.
   */
  private static final class CountingSession extends MemorySession {

    private final List<AtomicInteger> holds;

    CountingSession(List<AtomicInteger> holds, MemoryBudget budget) {
      this(holds, budget, LogTesting.keeping(10, MANY));
    }

    CountingSession(List<AtomicInteger> holds, MemoryBudget budget, Retention retention) {
      InstantSource clock =
          () -> {
            holds.getLast().incrementAndGet();
            return Instant.EPOCH;
          };
      super(retention, budget, "", clock);
      this.holds = holds;
    }

    @Override
    <T> T locked(Supplier<T> action) {
      holds.add(new AtomicInteger());
      return super.locked(action);
    }

    @Override
    void run(Runnable action) {
      holds.add(new AtomicInteger());
      super.run(action);
    }
  }

  private static CountingSession withStreams(List<AtomicInteger> holds) {
    return fill(new CountingSession(holds, new MemoryBudget(1 << 30, Long.MAX_VALUE)));
  }

  private static CountingSession fill(CountingSession session) {
    for (int n = 0; n < MANY; n++) {
      MemoryStream stream = session.open(new StreamRef(new LogKey("s"), "a" + n), "", "", null);
      Position _ = session.append(stream, List.of(LogTesting.event("1")), () -> {});
    }
    session.holds.clear();
    return session;
  }

  @Test
  void shouldSweepSomeStreamsAtATime() {
    List<AtomicInteger> holds = new ArrayList<>();
    CountingSession session = withStreams(holds);

    session.sweep();

    assertThat(holds).extracting(AtomicInteger::get).allMatch(count -> count <= MemorySession.STEP);
    assertThat(holds.stream().mapToInt(AtomicInteger::get).sum()).isEqualTo(MANY);
  }

  /** A large event takes the place of many small ones. */
  @Test
  void shouldPurgeSomeEventsAtATime() {
    Duration hour = Duration.ofHours(1);
    long most = 1000 * MANY;
    Retention retention = new Retention(hour, hour, 10, most, hour, most, 2 * MANY);
    List<AtomicInteger> holds = new ArrayList<>();
    CountingSession session =
        fill(new CountingSession(holds, new MemoryBudget(1 << 30, Long.MAX_VALUE), retention));
    MemoryStream stream = session.open(new StreamRef(new LogKey("s"), "large"), "", "", null);
    holds.clear();

    Position _ =
        session.append(
            stream, List.of(new NewEvent(new byte[(int) most - 1000], null, false)), () -> {});

    assertThat(holds).hasSizeGreaterThan(MANY / MemorySession.STEP - 1);
    assertThat(session.read("a" + MANY / 2, Position.START, 1, 1))
        .isInstanceOf(ReadResult.Gap.class);
  }

  @Test
  void shouldListSomeStreamsAtATime() {
    List<AtomicInteger> holds = new ArrayList<>();
    CountingSession session = withStreams(holds);

    StreamIndex.Page page = session.list(0, 10);

    assertThat(page.streams()).hasSize(10);
    assertThat(page.more()).isTrue();
    assertThat(holds).hasSize(MANY + 10);
  }

  /**
   * Opens accounts of several clients that offer something, and have nothing to give when asked.
   */
  private MemoryBudget.Account openRefusing(int count) {
    MemoryBudget.Account last = open("w", false);
    for (int n = 0; n < count; n++) {
      last = open("c" + n % 10, false);
    }
    return last;
  }

  private MemoryBudget.Account open(String client, boolean gives) {
    MemoryBudget.Account account =
        budget.open(
            client,
            (_, _) -> {
              asked.incrementAndGet();
              return gives;
            });
    account.add(1, LARGE);
    account.offer(Kind.OTHER, true);
    return account;
  }

  /** Each append once asked all accounts that had nothing to give, and walked over them. */
  @Test
  void shouldAskFewAccountsThatHadNothingToGive() {
    MemoryBudget.Account writer = openRefusing(MANY);

    for (int n = 0; n < 100; n++) {
      budget.purgeOverflow(writer);
    }

    assertThat(asked.get()).isBetween(MANY, MANY + 100 * (MemoryBudget.MOST_RETRIED + 1));
  }

  /** Time passes without a change: an expected reader has not come. */
  @Test
  void shouldAskAllAccountsAgainInTurn() {
    MemoryBudget.Account writer = openRefusing(MANY);
    budget.purgeOverflow(writer);
    asked.set(0);

    for (int n = 0; n < MANY / MemoryBudget.MOST_RETRIED; n++) {
      budget.purgeOverflow(writer);
    }

    assertThat(asked.get()).isGreaterThanOrEqualTo(MANY);
  }

  @Test
  void shouldAskAnAccountAtOnceThatOffersAgain() {
    AtomicInteger given = new AtomicInteger();
    MemoryBudget.Account[] other = new MemoryBudget.Account[1];
    boolean[] gives = new boolean[1];
    other[0] =
        budget.open(
            "other",
            (_, _) -> {
              if (gives[0]) {
                other[0].add(-1, -LARGE);
                other[0].offer(Kind.OTHER, false);
                given.incrementAndGet();
              }
              return gives[0];
            });
    MemoryBudget.Account writer = openRefusing(MANY);
    other[0].add(1, LARGE);
    other[0].offer(Kind.OTHER, true);
    budget.purgeOverflow(writer);
    gives[0] = true;

    other[0].offer(Kind.OTHER, true);
    budget.purgeOverflow(writer);

    assertThat(given).hasValue(1);
  }

  /** The first reader of each call may still come, so nothing of it may go. */
  @Test
  void shouldAskFewSessionsThatHadNothingToGive() {
    List<AtomicInteger> holds = new ArrayList<>();
    List<MemoryStream> calls = new ArrayList<>();
    CountingSession session = new CountingSession(holds, budget);
    for (int n = 0; n < MANY; n++) {
      session = new CountingSession(holds, budget);
      calls.add(session.open(new StreamRef(new LogKey("s" + n), "a"), "1", "", null));
      Position _ = session.append(calls.getLast(), List.of(LogTesting.event("1")), () -> {});
    }
    holds.clear();

    for (int n = 0; n < 100; n++) {
      Position _ = session.append(calls.getLast(), List.of(LogTesting.event("1")), () -> {});
    }

    assertThat(holds).hasSizeLessThan(2 * MANY + 100 * (MemoryBudget.MOST_RETRIED + 4));
  }
}
