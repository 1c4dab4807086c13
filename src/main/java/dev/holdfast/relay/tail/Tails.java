package dev.holdfast.relay.tail;

import dev.holdfast.log.StreamRef;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/** The tails that run on this replica. Thread-safe. */
public final class Tails {

  private final Set<Tail> running = ConcurrentHashMap.newKeySet();
  private volatile Predicate<StreamRef> moving = stream -> false;

  /** Knows a tail from when it starts. */
  void add(Tail tail) {
    running.add(tail);
    // After it is known: whoever asks all to move sees this one, or this one sees the wish.
    if (moving.test(tail.stream())) {
      tail.move();
    }
  }

  /** Forgets a tail that has ended its connection. */
  void remove(Tail tail) {
    running.remove(tail);
  }

  /**
   * Has tails send their clients elsewhere, also those that are still to come.
   *
   * @param which the streams whose tails are to do so
   */
  public void move(Predicate<StreamRef> which) {
    moving = which;
    running.stream().filter(tail -> which.test(tail.stream())).forEach(Tail::move);
  }

  /**
   * Has all tails send their clients elsewhere, one after the other, so that whoever gets them is
   * not overrun; those that are still to come, at once.
   *
   * @param apart the longest from one to the next
   * @param within the longest for all of them
   */
  public void moveInTurn(Duration apart, Duration within) throws InterruptedException {
    moving = stream -> true;
    List<Tail> all = List.copyOf(running);
    long begun = System.nanoTime();
    for (int i = 0; i < all.size(); i++) {
      Duration turn =
          Duration.ofNanos(Math.min(apart.toNanos(), within.toNanos() / all.size()) * i);
      Thread.sleep(turn.minusNanos(System.nanoTime() - begun));
      all.get(i).move();
    }
  }

  public int size() {
    return running.size();
  }

  public boolean isEmpty() {
    return running.isEmpty();
  }
}
