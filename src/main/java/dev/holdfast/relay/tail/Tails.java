package dev.holdfast.relay.tail;

import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.retry.Backoff;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The tails that run on this replica, and those that were evicted recently. Thread-safe. */
public final class Tails {

  private static final Duration MAX_EVICTION_RETRY = Duration.ofMinutes(1);

  /** After this lifetime, an eviction counts as the first. */
  private static final Duration CALM = Duration.ofMinutes(1);

  private final Set<Movable> running = ConcurrentHashMap.newKeySet();
  private final Map<StreamRef, Backoff> evictions = new ConcurrentHashMap<>();

  /** Sessions whose clients resumed a stream here. Some resume only their standalone stream. */
  private final Set<LogKey> resumed = ConcurrentHashMap.newKeySet();

  private volatile Predicate<StreamRef> moving = stream -> false;
  private volatile boolean leaving;

  /** A tail that can send its client to another replica. */
  interface Movable {
    StreamRef stream();

    /** Returns true if its client has resumed the stream. */
    boolean isResumed();

    /** Asks the tail to send its client away. */
    void depart(Departure why);
  }

  /** Adds a tail that starts. */
  void add(Movable tail) {
    running.add(tail);
    if (tail.isResumed() && StreamNames.areForRequests(tail.stream().name())) {
      resumed.add(tail.stream().key());
    }
    // Looks after it was added: either move() finds this tail, or the tail finds the request. A
    // client that resumes here may have found no other replica, and gives up after few attempts.
    if (leaving) {
      tail.depart(Departure.STOP);
    } else if (!tail.isResumed() && moving.test(tail.stream())) {
      tail.depart(Departure.MOVE);
    }
  }

  void remove(Movable tail) {
    running.remove(tail);
  }

  /** Returns true if a client of the session has lately resumed the stream of a request here. */
  boolean hasResumed(LogKey session) {
    return resumed.contains(session);
  }

  /** Moves the clients of some streams to other replicas, also those that connect later. */
  public void move(Predicate<StreamRef> which) {
    moving = which;
    running.stream()
        .filter(tail -> which.test(tail.stream()))
        .forEach(tail -> tail.depart(Departure.MOVE));
  }

  /** Ends all tails, also later ones, each as soon as its client has what the log has. */
  public void leave() {
    leaving = true;
    running.forEach(tail -> tail.depart(Departure.STOP));
  }

  /**
   * Moves all clients to other replicas, one after the other, so that they do not arrive there at
   * the same time. Clients that connect later are moved at once.
   *
   * @param interval the longest time between two of them
   * @param within the longest time for all of them
   */
  public void moveInTurn(Duration interval, Duration within) throws InterruptedException {
    moving = stream -> true;
    List<Movable> all = List.copyOf(running);
    long begun = System.nanoTime();
    for (int i = 0; i < all.size(); i++) {
      Duration turn =
          Duration.ofNanos(Math.min(interval.toNanos(), within.toNanos() / all.size()) * i);
      Thread.sleep(turn.minusNanos(System.nanoTime() - begun));
      all.get(i).depart(Departure.MOVE);
    }
  }

  /**
   * The {@code retry} for an evicted connection: twice as long for each eviction, up to a bound. A
   * client with two live connections to one stream would otherwise reconnect each of them as soon
   * as the other evicts it.
   *
   * @param age the time since the connection was opened
   * @param first the {@code retry} that the first evicted connection gets
   */
  Duration retryAfterEviction(StreamRef stream, Duration age, Duration first) {
    Duration most = first.compareTo(MAX_EVICTION_RETRY) < 0 ? MAX_EVICTION_RETRY : first;
    Backoff unevicted = new Backoff(first, most);
    return evictions
        .merge(stream, unevicted, (before, none) -> age.compareTo(CALM) > 0 ? none : before.next())
        .delay();
  }

  /** Forgets evictions and clients, so that ended sessions take no memory. */
  public void sweep() {
    evictions.clear();
    resumed.clear();
  }

  /** The keys of the streams of the running tails. */
  public Set<LogKey> keys() {
    return running.stream().map(tail -> tail.stream().key()).collect(Collectors.toSet());
  }

  /** The number of running tails. */
  public int size() {
    return running.size();
  }

  /** Returns true if no tail runs. */
  public boolean isEmpty() {
    return running.isEmpty();
  }
}
