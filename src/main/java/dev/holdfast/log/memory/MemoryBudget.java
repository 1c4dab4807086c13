package dev.holdfast.log.memory;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.EventLog;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SequencedSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Byte budget that all sessions share. When it is exceeded, streams that were delivered to their
 * end give way first, then other events, see {@link MemorySession#purge}, and last the results of
 * connected clients. Each time the largest session of the client with the most bytes gives way, so
 * no client and no session can take the place of those that need less. The bytes of one client have
 * a limit, too.
 *
 * <p>Events that a connected reader does not have yet stay. If they fill the budget, writers wait;
 * those of clients with less than an equal share do not.
 *
 * <p>Lock order: a session's lock, then this one.
 */
final class MemoryBudget {

  /** Kinds of data that a session can give up. */
  enum Kind {
    /** A complete stream that was delivered to its end. */
    DELIVERED,
    /** Other events, but no result of a session whose client is connected. */
    OTHER,
    /** Such a result. Its client is more likely to fetch it than one that has left. */
    AWAITED
  }

  /** Gives up events of a session. */
  interface Purger {
    /**
     * Gives up the next events of a kind. Called without a lock.
     *
     * @param writing whether the session writes: its newest event stays
     * @return false if there are none
     */
    boolean purge(Kind kind, boolean writing);
  }

  /** The most accounts of those that had nothing to give that are asked again at a time. */
  static final int MOST_RETRIED = 32;

  /**
   * Bytes from which all writers get room in the order of arrival: if results waited for smaller
   * messages, too many would be held at a time.
   */
  private static final long LARGE = 64 * 1024;

  private static final List<Kind> KINDS = List.of(Kind.values());

  /** Upper bound of one wait, in case a change was not noticed. */
  private static final long CHECK_MILLIS = 1000;

  private static final Comparator<Account> BY_SIZE =
      Comparator.<Account>comparingLong(account -> account.bytes)
          .thenComparingLong(account -> account.number);

  private static final Comparator<Client> CLIENTS_BY_SIZE =
      Comparator.<Client>comparingLong(client -> client.bytes).thenComparing(client -> client.name);

  private final long maxBytes;
  private final long maxClientBytes;

  /** Guards everything below. */
  private final AutoLock lock = new AutoLock();

  private final Condition changed = lock.newCondition();

  /** For each kind, the clients that may have some, the largest last. */
  private final Map<Kind, NavigableSet<Client>> clients = forEachKind(CLIENTS_BY_SIZE);

  private final Map<String, Client> clientsByName = new HashMap<>();

  /**
   * Purges that removed nothing, the oldest first. They are tried again when the session offers the
   * kind again, or in turn: its events may have become old enough.
   */
  private final SequencedSet<Purge> refused = new LinkedHashSet<>();

  /** The writers that wait, in the order in which they get room. */
  private final NavigableSet<WaitingWriter> waiting = new TreeSet<>();

  private long tickets;

  /** The {@link WaitingWriter#due} of the last writer that waited and got room. */
  private long served;

  private long opened;
  private long events;
  private long bytes;

  /** Bytes for events that are about to be written. */
  private long taken;

  MemoryBudget(long maxBytes, long maxClientBytes) {
    if (maxBytes < 1 || maxClientBytes < 1) {
      throw new IllegalArgumentException("the byte budget must be positive");
    }
    this.maxBytes = maxBytes;
    this.maxClientBytes = maxClientBytes;
  }

  private static <T> Map<Kind, NavigableSet<T>> forEachKind(Comparator<T> order) {
    Map<Kind, NavigableSet<T>> sets = new EnumMap<>(Kind.class);
    for (Kind kind : KINDS) {
      sets.put(kind, new TreeSet<>(order));
    }
    return sets;
  }

  private static <T> NavigableSet<T> of(Map<Kind, NavigableSet<T>> sets, Kind kind) {
    return Objects.requireNonNull(sets.get(kind));
  }

  /** The events of the sessions of one client. */
  private static final class Client {

    private final String name;

    /** For each kind, the accounts that may have some, the largest last. */
    private final Map<Kind, NavigableSet<Account>> accounts = forEachKind(BY_SIZE);

    private long bytes;

    private Client(String name) {
      this.name = name;
    }

    private boolean isIdle() {
      return bytes == 0 && accounts.values().stream().allMatch(NavigableSet::isEmpty);
    }
  }

  /** The events of one session. Its methods are called with the lock of the session. */
  final class Account {

    private final String client;
    private final Purger purger;
    private final long number;
    private final Set<Kind> offers = EnumSet.noneOf(Kind.class);
    private long bytes;

    /** Kinds that it offers, but has none of now. Replaced with the lock of the budget. */
    private volatile Set<Kind> refuses = Set.of();

    private Account(String client, Purger purger, long number) {
      this.client = client;
      this.purger = purger;
      this.number = number;
    }

    /** Adds events, or removes them with negative numbers. */
    void add(long moreEvents, long moreBytes) {
      change(
          moreBytes < 0,
          owner -> {
            bytes += moreBytes;
            owner.bytes += moreBytes;
            events += moreEvents;
            MemoryBudget.this.bytes += moreBytes;
          });
    }

    /** Sets whether the session may have something to give up. */
    void offer(Kind kind, boolean offers) {
      if (this.offers.contains(kind) != offers || refuses.contains(kind)) {
        change(
            true,
            _ -> {
              boolean _ = offers ? this.offers.add(kind) : this.offers.remove(kind);
              refuse(kind, false);
            });
      }
    }

    /** Notes whether the session has nothing to give up now, although it offers a kind. */
    private void refuse(Kind kind, boolean refuses) {
      Purge purge = new Purge(this, kind);
      boolean _ = (refuses && offers.contains(kind)) ? refused.add(purge) : refused.remove(purge);
      this.refuses =
          Set.copyOf(
              KINDS.stream().filter(each -> refused.contains(new Purge(this, each))).toList());
    }

    /** Changes this account, which has another place among the others afterwards. */
    private void change(boolean makesRoom, Consumer<Client> change) {
      try (var _ = lock.hold()) {
        Client owner = clientsByName.computeIfAbsent(client, Client::new);
        for (Kind kind : KINDS) {
          of(clients, kind).remove(owner);
          of(owner.accounts, kind).remove(this);
        }
        change.accept(owner);
        for (Kind kind : KINDS) {
          NavigableSet<Account> accounts = of(owner.accounts, kind);
          if (offers.contains(kind) && !refuses.contains(kind)) {
            accounts.add(this);
          }
          if (!accounts.isEmpty()) {
            of(clients, kind).add(owner);
          }
        }
        if (owner.isIdle()) {
          clientsByName.remove(client);
        }
        if (makesRoom) {
          changed.signalAll();
        }
      }
    }
  }

  /** Opens an account for a session of a client. */
  Account open(String client, Purger purger) {
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
   * Makes sessions purge events until the budget is kept, or nothing may go. The newest event of
   * the writer always stays: a message that alone exceeds the budget must still be delivered.
   */
  void purgeOverflow(Account writer) {
    purge(0, writer);
  }

  private void purge(long needed, @Nullable Account writer) {
    Set<Purge> asked = new HashSet<>(0);
    Purge next = first(needed);
    while (next != null) {
      Account account = next.account;
      Kind kind = next.kind;
      if (!account.purger.purge(kind, account == writer)) {
        asked.add(next);
        if (account != writer) { // The newest event of the writer may go later.
          account.change(false, _ -> account.refuse(kind, true));
        }
      }
      next = next(needed, asked);
    }
  }

  private record Purge(Account account, Kind kind) {}

  private @Nullable Purge first(long needed) {
    try (var _ = lock.hold()) {
      for (Purge each : refused.stream().limit(MOST_RETRIED).toList()) {
        Client client = clientsByName.get(each.account.client);
        if (!fits(needed) || (client != null && client.bytes > maxClientBytes)) {
          each.account.change(false, _ -> each.account.refuse(each.kind, false));
        } else {
          refused.addLast(each);
        }
      }
      return next(needed, Set.of());
    }
  }

  /** Returns what gives way next. Besides that, it looks only at what was asked for already. */
  private @Nullable Purge next(long needed, Set<Purge> asked) {
    try (var _ = lock.hold()) {
      for (Kind kind : KINDS) {
        for (Client client : of(clients, kind).descendingSet()) {
          if (fits(needed) && client.bytes <= maxClientBytes) {
            break;
          }
          for (Account account : of(client.accounts, kind).descendingSet()) {
            Purge purge = new Purge(account, kind);
            if (!asked.contains(purge)) {
              return purge;
            }
          }
        }
      }
      return null;
    }
  }

  private boolean fits(long needed) {
    return bytes + taken + needed <= maxBytes;
  }

  /**
   * Takes room for events, if there is some. {@link #giveBack} follows once they are written.
   *
   * @return false if {@link #take} must wait for it
   */
  boolean tryTake(Account writer, long needed) {
    try (var _ = lock.hold()) {
      if (waiting.isEmpty() && fits(needed)) {
        taken += needed;
        return true;
      }
    }
    purge(needed, null);
    try (var _ = lock.hold()) {
      return takeIfRoom(writer, needed, waiting.isEmpty());
    }
  }

  /** Takes room if there is some; {@code next} tells whether no other writer comes first. */
  private boolean takeIfRoom(Account writer, long needed, boolean next) {
    boolean room = (next && fits(needed)) || isWithinShare(writer, needed);
    taken += room ? needed : 0;
    return room;
  }

  private boolean isWithinShare(Account writer, long needed) {
    Client client = clientsByName.get(writer.client);
    int all = clientsByName.size() + (client == null ? 1 : 0);
    return (client == null ? 0 : client.bytes) + needed <= maxBytes / Math.max(2, all);
  }

  /** Gives back what {@link #tryTake} or {@link #take} took. */
  void giveBack(long bytes) {
    try (var _ = lock.hold()) {
      taken -= bytes;
      changed.signalAll();
    }
  }

  /** The bytes to take for events: one that is larger than the budget must be written, too. */
  long roomFor(long bytes) {
    return Math.min(bytes, maxBytes / 2);
  }

  /**
   * Waits for room for events and takes it.
   *
   * @param stopped whether to give up; then nothing is taken
   * @return whether it was taken
   */
  boolean take(Account writer, long needed, BooleanSupplier stopped) throws InterruptedException {
    lock.lockInterruptibly();
    WaitingWriter own = new WaitingWriter(served + Math.min(needed, LARGE), tickets++);
    try {
      waiting.add(own);
      while (!stopped.getAsBoolean()) {
        boolean next = waiting.first().equals(own);
        if (next) {
          lock.unlock();
          try {
            purge(needed, null);
          } finally {
            lock.lock();
          }
        }
        if (takeIfRoom(writer, needed, next)) {
          served = Math.max(served, own.due());
          return true;
        }
        boolean _ = changed.await(CHECK_MILLIS, TimeUnit.MILLISECONDS);
      }
      return false;
    } finally {
      waiting.remove(own);
      changed.signalAll();
      lock.unlock();
    }
  }

  /** Lets the writers that wait look whether they still have to. */
  void wakeWaiting() {
    try (var _ = lock.hold()) {
      changed.signalAll();
    }
  }
}
