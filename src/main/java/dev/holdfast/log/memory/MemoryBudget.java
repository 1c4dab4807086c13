package dev.holdfast.log.memory;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.EventLog;
import java.util.Comparator;
import java.util.NavigableSet;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Byte budget that all sessions share. When it is exceeded, the session with the most bytes gives
 * up its oldest event. So no session can take the place of those that need less.
 *
 * <p>Lock order: a session's lock, then this one.
 */
final class MemoryBudget {

  private static final Comparator<Account> BY_SIZE =
      Comparator.<Account>comparingLong(account -> account.bytes)
          .thenComparingLong(account -> account.number);

  private final long maxBytes;
  private final AutoLock lock = new AutoLock();

  /** The accounts with events, the largest last. The lock guards this set and all numbers. */
  private final NavigableSet<Account> accounts = new TreeSet<>(BY_SIZE);

  private long opened;
  private long events;
  private long bytes;

  MemoryBudget(long maxBytes) {
    if (maxBytes < 1) {
      throw new IllegalArgumentException("the byte budget must be positive");
    }
    this.maxBytes = maxBytes;
  }

  /** The events of one session. */
  final class Account {

    private final Consumer<Account> purger;
    private final long number;
    private long bytes;
    private long events;

    private Account(Consumer<Account> purger, long number) {
      this.purger = purger;
      this.number = number;
    }

    /** Adds events, or removes them with negative numbers. */
    void add(long moreEvents, long moreBytes) {
      try (var _ = lock.hold()) {
        accounts.remove(this);
        events += moreEvents;
        bytes += moreBytes;
        if (events > 0) {
          accounts.add(this);
        }
        MemoryBudget.this.events += moreEvents;
        MemoryBudget.this.bytes += moreBytes;
      }
    }
  }

  /**
   * Opens an account.
   *
   * @param purger purges the oldest event of the account; called without a lock
   */
  Account open(Consumer<Account> purger) {
    try (var _ = lock.hold()) {
      return new Account(purger, opened++);
    }
  }

  EventLog.Size size() {
    try (var _ = lock.hold()) {
      return new EventLog.Size(
          OptionalLong.of(events),
          OptionalLong.of(bytes),
          OptionalDouble.of((double) bytes / maxBytes));
    }
  }

  /**
   * Makes the largest accounts purge events until the budget is kept. The newest event of the
   * writer always stays: a message that alone exceeds the budget must still be delivered.
   */
  void purgeOverflow(Account writer) {
    Account largest = largestInOverflow(writer);
    while (largest != null) {
      largest.purger.accept(largest);
      largest = largestInOverflow(writer);
    }
  }

  private @Nullable Account largestInOverflow(Account writer) {
    try (var _ = lock.hold()) {
      Account largest = bytes <= maxBytes || accounts.isEmpty() ? null : accounts.last();
      return largest == writer && largest.events == 1 ? null : largest;
    }
  }
}
