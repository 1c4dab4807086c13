package dev.holdfast.clients;

import dev.holdfast.testing.Exchange;
import dev.holdfast.testing.Fault;
import dev.holdfast.testing.Fault.Trigger;
import dev.holdfast.testing.FaultProxy;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Cuts the connections of one stream a fixed number of times, at random places. The first cut comes
 * after the priming event, each other one between two events or inside one.
 */
final class StreamCuts implements FaultProxy.Plan {
  /** No connection lives longer: a stream of more events than this for each cut gets all cuts. */
  static final int EVENTS_PER_CUT = 4;

  private static final int FRAME = 150;

  /** Longer than a client needs to look at what it has received. */
  static final Duration SILENCE = Duration.ofMillis(100);

  private final Predicate<Exchange> victims;
  private final int cuts;
  private final Random random;
  private final ReentrantLock lock = new ReentrantLock();
  private int done;

  private StreamCuts(Predicate<Exchange> victims, int cuts, long seed) {
    this.victims = victims;
    this.cuts = cuts;
    this.random = new Random(seed);
  }

  /** Cuts the stream of a tool call: the one that it is posted on, and the ones that resume it. */
  static StreamCuts ofCall(int cuts, long seed) {
    return new StreamCuts(
        exchange -> exchange.calls("tools/call") || resumes(exchange), cuts, seed);
  }

  /** Cuts the standalone stream. */
  static StreamCuts ofStandaloneStream(int cuts, long seed) {
    return new StreamCuts(exchange -> exchange.isA("GET"), cuts, seed);
  }

  static boolean resumes(Exchange exchange) {
    return exchange.isA("GET") && exchange.header("Last-Event-ID").isPresent();
  }

  /** How many connections were given an end. */
  int done() {
    lock.lock();
    try {
      return done;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Fault faultFor(Exchange exchange) {
    lock.lock();
    try {
      if (done == cuts || !victims.test(exchange)) {
        return Fault.none();
      }
      Trigger at = done == 0 ? Trigger.afterEvents(1) : next();
      done++;
      Fault.Cut cut = random.nextBoolean() ? Fault.reset(at) : Fault.finish(at);
      return cut.after(SILENCE);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Spares the first event, which names the place to resume from: a client of the TypeScript SDK
   * (1.32) that loses it while it resumes forgets the place that it had before.
   */
  private Trigger next() {
    int event = 2 + random.nextInt(EVENTS_PER_CUT - 1);
    return random.nextBoolean()
        ? Trigger.afterEvents(event)
        : Trigger.insideEvent(event, 1 + random.nextInt(FRAME));
  }
}
