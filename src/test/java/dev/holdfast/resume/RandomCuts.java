package dev.holdfast.resume;

import dev.holdfast.testing.Exchange;
import dev.holdfast.testing.Fault;
import dev.holdfast.testing.Fault.Trigger;
import dev.holdfast.testing.FaultProxy;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Cuts answers at random: before the first byte, between any two events, inside a frame, by reset
 * or in seeming order. What happens to a request follows from the seed and the request alone, so a
 * run does the same cuts again however its threads are scheduled.
 */
public final class RandomCuts implements FaultProxy.Plan {

  private final long seed;
  private final int events;
  private final Map<String, Integer> attempts = new ConcurrentHashMap<>();

  /**
   * Plans.
   *
   * @param events about how many events an answer has
   */
  public RandomCuts(long seed, int events) {
    this.seed = seed;
    this.events = events;
  }

  @Override
  public Fault faultFor(Exchange exchange) {
    boolean call = exchange.calls("tools/call");
    boolean resume = exchange.isA("GET");
    if (!call && !resume) {
      return Fault.none();
    }
    String subject = call ? exchange.body() : exchange.header("Last-Event-ID").orElse("");
    // The same request again, because its answer was cut before anything of it arrived, is cut
    // elsewhere.
    int attempt = attempts.merge(subject, 1, Integer::sum);
    Random random = new Random((seed * 31 + subject.hashCode()) * 31 + attempt);
    // A resumption is often left alone, so that every call comes to its end.
    return resume && random.nextInt(3) == 0 ? Fault.none() : cut(random);
  }

  private Fault cut(Random random) {
    Trigger at =
        switch (random.nextInt(8)) {
          case 0 -> Trigger.afterBytes(0);
          case 1 -> Trigger.afterBytes(random.nextInt(300));
          case 2, 3, 4 -> Trigger.afterEvents(1 + random.nextInt(events));
          default -> Trigger.insideEvent(1 + random.nextInt(events), 1 + random.nextInt(60));
        };
    return random.nextBoolean() ? Fault.reset(at) : Fault.finish(at);
  }
}
