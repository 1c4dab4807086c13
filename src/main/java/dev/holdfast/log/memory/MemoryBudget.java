package dev.holdfast.log.memory;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.EventLog;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Byte budget that all sessions share. When it is exceeded, the largest session of the client with
 * the most bytes gives up its oldest event. So no client, and none of its sessions, can take the
 * place of those that need less. The bytes of one client have a limit, too.
 *
 * <p>Lock order: a session's lock, then this one.
 */
final class MemoryBudget {

  private static final Comparator<Account> BY_SIZE =
      Comparator.<Account>comparingLong(account -> account.bytes)
          .thenComparingLong(account -> account.number);

  private static final Comparator<Client> CLIENTS_BY_SIZE =
      Comparator.<Client>comparingLong(client -> client.bytes).thenComparing(client -> client.name);

  private final long maxBytes;
  private final long maxClientBytes;
  private final AutoLock lock = new AutoLock();

  /** The clients with events, the largest last. The lock guards all sets and numbers. */
  private final NavigableSet<Client> clients = new TreeSet<>(CLIENTS_BY_SIZE);

  /** The same clients by name. */
  private final Map<String, Client> clientsByName = new HashMap<>();

  private long opened;
  private long events;
  private long bytes;

  MemoryBudget(long maxBytes, long maxClientBytes) {
    if (maxBytes < 1 || maxClientBytes < 1) {
      throw new IllegalArgumentException("the byte budget must be positive");
    }
    this.maxBytes = maxBytes;
    this.maxClientBytes = maxClientBytes;
  }

  /** The events of the sessions of one client. */
  private static final class Client {

    private final String name;

    /** The accounts with events, the largest last. */
    private final NavigableSet<Account> accounts = new TreeSet<>(BY_SIZE);

    private long bytes;

    private Client(String name) {
      this.name = name;
    }
  }

  /** The events of one session. */
  final class Account {

    private final String client;
    private final Consumer<Account> purger;
    private final long number;
    private long bytes;
    private long events;

    private Account(String client, Consumer<Account> purger, long number) {
      this.client = client;
      this.purger = purger;
      this.number = number;
    }

    /** Adds events, or removes them with negative numbers. */
    void add(long moreEvents, long moreBytes) {
      try (var _ = lock.hold()) {
        Client owner = clientsByName.computeIfAbsent(client, Client::new);
        clients.remove(owner);
        owner.accounts.remove(this);
        events += moreEvents;
        bytes += moreBytes;
        owner.bytes += moreBytes;
        if (events > 0) {
          owner.accounts.add(this);
        }
        if (owner.accounts.isEmpty()) {
          clientsByName.remove(client);
        } else {
          clients.add(owner);
        }
        MemoryBudget.this.events += moreEvents;
        MemoryBudget.this.bytes += moreBytes;
      }
    }
  }

  /**
   * Opens an account.
   *
   * @param client the client of the session
   * @param purger purges the oldest event of the account; called without a lock
   */
  Account open(String client, Consumer<Account> purger) {
    try (var _ = lock.hold()) {
      return new Account(client, purger, opened++);
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
   * Makes accounts purge events until the budget is kept. The newest event of the writer always
   * stays: a message that alone exceeds the budget must still be delivered.
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
      for (Client client : clients.descendingSet()) {
        if (bytes <= maxBytes && client.bytes <= maxClientBytes) {
          return null;
        }
        Account largest = client.accounts.last();
        if (largest == writer && largest.events == 1) {
          largest = client.accounts.lower(largest);
        }
        if (largest != null) {
          return largest;
        }
      }
      return null;
    }
  }
}
