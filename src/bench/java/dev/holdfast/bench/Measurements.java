package dev.holdfast.bench;

import static dev.holdfast.bench.Contender.DIRECT;
import static dev.holdfast.bench.Contender.NCHAN;
import static dev.holdfast.bench.Contender.NGINX;
import static dev.holdfast.bench.Contender.UNLOGGED;
import static dev.holdfast.bench.Contender.VERTX;

import dev.holdfast.testing.Gateway;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Measures, round by round. Within a round each contender has its turn, so that what disturbs a
 * machine for a while disturbs all of them.
 */
final class Measurements {

  private static final int CALLING = 16;
  private static final int STREAMING = 50;
  private static final int LIVE_INTERVAL_US = 50_000;
  private static final int BUSY_INTERVAL_US = 10_000;

  private final BenchmarkEnvironment lab;
  private final Options options;
  private final Scale scale;
  private final BenchmarkResults figures = new BenchmarkResults();

  Measurements(BenchmarkEnvironment lab, Options options) {
    this.lab = lab;
    this.options = options;
    this.scale = options.scale();
  }

  /**
   * Takes all that the options ask for.
   *
   * @throws WrongResultException if something was lost, came twice or failed
   */
  BenchmarkResults take() throws IOException, InterruptedException {
    Set<Contender> all = lab.contenders();
    Set<Contender> logged = EnumSet.copyOf(all);
    logged.remove(UNLOGGED);
    Set<Contender> calling = EnumSet.copyOf(all);
    calling.remove(NCHAN);
    Set<Contender> bursting = EnumSet.copyOf(logged);
    bursting.remove(NCHAN);
    Set<Contender> stores = EnumSet.copyOf(logged);
    stores.removeAll(EnumSet.of(DIRECT, NGINX, VERTX));
    warm();
    for (Measurement measurement : options.only()) {
      switch (measurement) {
        case CALLS -> rounds(measurement, this::calls, calling);
        case LIVE -> rounds(measurement, this::live, logged);
        case BURST -> rounds(measurement, this::burst, bursting);
        case REPLAY -> rounds(measurement, this::replay, stores);
        case IDLE -> idle();
      }
    }
    return figures;
  }

  /** One turn of one contender. */
  @FunctionalInterface
  private interface Turn {
    void take(Contender contender, BenchmarkResults figures) throws IOException;
  }

  /** Lets the JIT compiler of each proxy see all loads. */
  private void warm() throws IOException {
    BenchmarkResults unused = new BenchmarkResults();
    for (Contender contender : lab.contenders()) {
      if (contender.runsOnJvm()) {
        System.err.println("warm-up: " + contender.title());
        long end = System.nanoTime() + options.warm().toNanos();
        while (System.nanoTime() < end) {
          for (Turn turn : List.<Turn>of(this::calls, this::live, this::burst)) {
            take(turn, contender, unused);
          }
        }
      }
    }
  }

  private void rounds(Measurement measurement, Turn turn, Set<Contender> contenders)
      throws IOException {
    for (int round = -1; round < options.rounds(); round++) {
      say(measurement, round);
      for (Contender contender : contenders) {
        take(turn, contender, round < 0 ? new BenchmarkResults() : figures);
      }
    }
  }

  private void take(Turn turn, Contender contender, BenchmarkResults into) throws IOException {
    try {
      turn.take(contender, into);
    } catch (WrongResultException | IOException failure) {
      System.err.println(lab.output(contender));
      throw new WrongResultException(contender.title() + ": " + failure.getMessage(), failure);
    }
  }

  private void calls(Contender contender, BenchmarkResults into) {
    CostMeter meter = new CostMeter(lab, contender);
    CallLoad load = new CallLoad(CALLING, scale.callTime());
    CallLoad.Outcome outcome = load.run(lab.url(contender), meter);
    into.add(Metric.CALLS, contender, outcome.perSecond());
    into.add(Metric.CALL_P50, contender, outcome.times().percentile(50));
    into.add(Metric.CALL_P99, contender, outcome.times().percentile(99));
    meter.addTo(into, Operation.CALL, outcome.times().size());
  }

  private void live(Contender contender, BenchmarkResults into) {
    CostMeter meter = new CostMeter(lab, contender);
    int events = scale.liveEvents();
    BurstLoad load = new BurstLoad(STREAMING, events, LIVE_INTERVAL_US);
    Samples latencies = load.run(lab.url(contender), meter).latencies();
    into.add(Metric.LIVE_P50, contender, latencies.percentile(50));
    into.add(Metric.LIVE_P99, contender, latencies.percentile(99));
    meter.addTo(into, Operation.LIVE_EVENT, latencies.size());
    load = new BurstLoad(STREAMING, events * LIVE_INTERVAL_US / BUSY_INTERVAL_US, BUSY_INTERVAL_US);
    BurstLoad.Outcome busy = load.run(lab.url(contender), meter);
    into.add(Metric.BUSY_RATE, contender, busy.perSecond());
    into.add(Metric.BUSY_P50, contender, busy.latencies().percentile(50));
    into.add(Metric.BUSY_P99, contender, busy.latencies().percentile(99));
  }

  private void burst(Contender contender, BenchmarkResults into) {
    CostMeter meter = new CostMeter(lab, contender);
    BurstLoad load = new BurstLoad(STREAMING, scale.burstEvents(), 0);
    BurstLoad.Outcome outcome = load.run(lab.url(contender), meter);
    into.add(Metric.BURST, contender, outcome.perSecond());
    meter.addTo(into, Operation.BURST_EVENT, outcome.latencies().size());
  }

  private void replay(Contender contender, BenchmarkResults into) throws IOException {
    into.add(Metric.REPLAY_100, contender, replay(contender, 100).percentile(50));
    into.add(Metric.REPLAY_1000, contender, replay(contender, 1000).percentile(50));
  }

  private Samples replay(Contender contender, int events) throws IOException {
    return new ReplayLoad(events, scale.replays())
        .run(lab.url(contender), lab.replayUrl(contender));
  }

  private void idle() throws IOException, InterruptedException {
    for (int round = 0; round < options.rounds(); round++) {
      say(Measurement.IDLE, round);
      for (Contender contender : lab.contenders()) {
        if (contender.runsOnJvm() && contender.writesToRedis()) {
          IdleLoad.Outcome local = idle(contender, true);
          figures.add(Metric.IDLE_LOCAL, contender, local.rss());
          figures.add(Metric.IDLE_LOCAL_HEAP, contender, local.heap());
          IdleLoad.Outcome http = idle(contender, false);
          figures.add(Metric.IDLE_HTTP, contender, http.rss());
          figures.add(Metric.IDLE_HTTP_HEAP, contender, http.heap());
        }
      }
    }
  }

  private IdleLoad.Outcome idle(Contender contender, boolean localUpstream)
      throws IOException, InterruptedException {
    try (Gateway gateway = lab.freshGateway(contender, localUpstream)) {
      return new IdleLoad(scale.idleStreams()).run(gateway);
    }
  }

  private void say(Measurement measurement, int round) {
    String which = round < 0 ? "warm-up" : "round %d of %d".formatted(round + 1, options.rounds());
    System.err.println(measurement + ": " + which);
  }
}
