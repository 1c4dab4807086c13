package dev.holdfast.bench;

import static dev.holdfast.bench.Contender.DIRECT;
import static dev.holdfast.bench.Contender.MEMORY;
import static dev.holdfast.bench.Contender.NGINX;
import static dev.holdfast.bench.Contender.REDIS;
import static dev.holdfast.bench.Contender.UNLOGGED;

import dev.holdfast.testing.Gateway;
import java.io.IOException;
import java.util.List;

/**
 * Measures, round by round. Within a round each contender has its turn, so that what disturbs a
 * machine for a while disturbs all of them.
 */
final class Measurements {

  private static final int CALLING = 16;
  private static final int STREAMING = 50;
  private static final int INTERVAL_US = 10_000;

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
    for (Measurement measurement : options.only()) {
      switch (measurement) {
        case CALLS -> rounds(measurement, this::calls, DIRECT, NGINX, UNLOGGED, MEMORY, REDIS);
        case LIVE -> rounds(measurement, this::live, DIRECT, NGINX, MEMORY, REDIS);
        case BURST -> rounds(measurement, this::burst, DIRECT, NGINX, MEMORY, REDIS);
        case REPLAY -> rounds(measurement, this::replay, MEMORY, REDIS);
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

  private void rounds(Measurement measurement, Turn turn, Contender... all) throws IOException {
    List<Contender> contenders = List.of(all).stream().filter(lab.contenders()::contains).toList();
    BenchmarkResults unused = new BenchmarkResults();
    for (int round = -scale.warmUps(); round < options.rounds(); round++) {
      say(measurement, round);
      for (Contender contender : contenders) {
        try {
          turn.take(contender, round < 0 ? unused : figures);
        } catch (WrongResultException | IOException failure) {
          System.err.println(lab.output(contender));
          throw new WrongResultException(
              measurement + ", " + contender.title() + ": " + failure.getMessage(), failure);
        }
      }
    }
  }

  private void calls(Contender contender, BenchmarkResults into) {
    CallLoad.Outcome outcome = new CallLoad(CALLING, scale.callTime()).run(lab.url(contender));
    into.add(Metric.CALLS, contender, outcome.perSecond());
    into.add(Metric.CALL_P50, contender, outcome.times().percentile(50));
    into.add(Metric.CALL_P99, contender, outcome.times().percentile(99));
  }

  private void live(Contender contender, BenchmarkResults into) {
    BurstLoad load = new BurstLoad(STREAMING, scale.liveEvents(), INTERVAL_US);
    BurstLoad.Outcome outcome = load.run(lab.url(contender));
    into.add(Metric.LIVE_RATE, contender, outcome.perSecond());
    into.add(Metric.LIVE_P50, contender, outcome.latencies().percentile(50));
    into.add(Metric.LIVE_P99, contender, outcome.latencies().percentile(99));
  }

  private void burst(Contender contender, BenchmarkResults into) {
    BurstLoad load = new BurstLoad(STREAMING, scale.burstEvents(), 0);
    into.add(Metric.BURST, contender, load.run(lab.url(contender)).perSecond());
  }

  private void replay(Contender contender, BenchmarkResults into) throws IOException {
    ReplayLoad.Outcome hundred = replay(contender, 100);
    into.add(Metric.REPLAY_100_FIRST, contender, hundred.first().percentile(50));
    into.add(Metric.REPLAY_100, contender, hundred.all().percentile(50));
    into.add(Metric.REPLAY_100_P99, contender, hundred.all().percentile(99));
    ReplayLoad.Outcome thousand = replay(contender, 1000);
    into.add(Metric.REPLAY_1000_FIRST, contender, thousand.first().percentile(50));
    into.add(Metric.REPLAY_1000, contender, thousand.all().percentile(50));
    into.add(Metric.REPLAY_1000_P99, contender, thousand.all().percentile(99));
  }

  private ReplayLoad.Outcome replay(Contender contender, int events) throws IOException {
    return new ReplayLoad(events, scale.replays())
        .run(lab.url(contender), lab.replayUrl(contender));
  }

  private void idle() throws IOException, InterruptedException {
    for (int round = 0; round < options.rounds(); round++) {
      say(Measurement.IDLE, round);
      IdleLoad.Outcome local = idle(true);
      figures.add(Metric.IDLE_LOCAL, REDIS, local.rss());
      figures.add(Metric.IDLE_LOCAL_HEAP, REDIS, local.heap());
      IdleLoad.Outcome http = idle(false);
      figures.add(Metric.IDLE_HTTP, REDIS, http.rss());
      figures.add(Metric.IDLE_HTTP_HEAP, REDIS, http.heap());
    }
  }

  private IdleLoad.Outcome idle(boolean localUpstream) throws IOException, InterruptedException {
    try (Gateway gateway = lab.freshGateway(localUpstream)) {
      return new IdleLoad(scale.idleStreams()).run(gateway);
    }
  }

  private void say(Measurement measurement, int round) {
    String which = round < 0 ? "warm-up" : "round %d of %d".formatted(round + 1, options.rounds());
    System.err.println(measurement + ": " + which);
  }
}
