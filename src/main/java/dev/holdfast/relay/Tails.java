package dev.holdfast.relay;

import dev.holdfast.log.StreamRef;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/** The tails that run on this replica. Thread-safe. */
final class Tails {

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
  void move(Predicate<StreamRef> which) {
    moving = which;
    running.stream().filter(tail -> which.test(tail.stream())).forEach(Tail::move);
  }

  int size() {
    return running.size();
  }

  boolean isEmpty() {
    return running.isEmpty();
  }
}
