package dev.holdfast.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** Faults and their times, all of which follow from the seed. Printed, it tells them all. */
final class Schedule {

  private final long seed;
  private final Random random;
  private final List<Step> steps = new ArrayList<>();

  /** What is done to the testbed. */
  interface Act {
    void on(FaultTestbed testbed) throws Exception;
  }

  /**
   * One fault, or the end of one.
   *
   * @param at the time since the beginning
   * @param fault whether it is none that ends another
   */
  record Step(Duration at, String what, boolean fault, Act act) {
    @Override
    public String toString() {
      return "  +%.2f s  %s".formatted(at.toMillis() / 1000.0, what);
    }
  }

  Schedule(long seed) {
    this.seed = seed;
    this.random = new Random(seed);
  }

  long seed() {
    return seed;
  }

  /** From 0 to below the bound. */
  int below(int bound) {
    return random.nextInt(bound);
  }

  <T> List<T> shuffled(List<T> list) {
    List<T> shuffled = new ArrayList<>(list);
    Collections.shuffle(shuffled, random);
    return shuffled;
  }

  Schedule at(long millis, String what, Act act) {
    steps.add(new Step(Duration.ofMillis(millis), what, true, act));
    return this;
  }

  Schedule endAt(long millis, String what, Act act) {
    steps.add(new Step(Duration.ofMillis(millis), what, false, act));
    return this;
  }

  /**
   * Plays all steps, each at its time, or at once when those before have taken longer. A fault that
   * would come after the span is left out: on a slow machine there are fewer.
   */
  void play(FaultTestbed testbed, Duration span) throws Exception {
    long start = System.nanoTime();
    for (Step step : inOrder()) {
      if (step.fault() && System.nanoTime() - start > span.toNanos()) {
        continue;
      }
      for (long left = step.at().toNanos() + start - System.nanoTime();
          left > 0;
          left = step.at().toNanos() + start - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      step.act().on(testbed);
    }
  }

  private List<Step> inOrder() {
    return steps.stream().sorted(Comparator.comparing(Step::at)).toList();
  }

  @Override
  public String toString() {
    return inOrder().stream()
        .map(Step::toString)
        .collect(Collectors.joining("\n", "seed " + seed + "\n", ""));
  }
}
