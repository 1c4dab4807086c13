package dev.holdfast.bench;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToDoubleFunction;

/**
 * Measures one call with more events than a stream keeps, as fast as possible: alone, and beside
 * clients that each follow a stream with few events. The contenders take turns in each round.
 */
final class FloodBenchmark {

  private static final int EVENTS = 40_000;
  private static final BurstLoad FLOOD = new BurstLoad(1, EVENTS, 0);

  /** 20 events per second, for five seconds. */
  private static final BurstLoad OTHERS = new BurstLoad(50, 100, 50_000);

  private static final List<Contender> CONTENDERS =
      List.of(Contender.DIRECT, Contender.MEMORY, Contender.REDIS);

  /**
   * One turn. The p99 is that of the events of the other clients.
   *
   * @param alone seconds of a flood without other clients
   * @param beside seconds of a flood beside them
   * @param quiet p99 without a flood, in ms
   * @param flooded p99 while there is always one
   */
  private record Turn(double alone, double beside, double quiet, double flooded) {}

  private FloodBenchmark() {}

  /**
   * Prints the medians as Markdown.
   *
   * @param args number of rounds, and seconds for which each contender works before the first one
   */
  public static void main(String[] args) throws Exception {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
    int warm = args.length > 1 ? Integer.parseInt(args[1]) : 20;
    try (BenchmarkEnvironment lab = new BenchmarkEnvironment(null)) {
      Map<Contender, List<Turn>> turns = new EnumMap<>(Contender.class);
      for (Contender each : CONTENDERS) {
        long end = System.nanoTime() + Duration.ofSeconds(warm).toNanos();
        while (System.nanoTime() < end) {
          Turn _ = turn(lab, each);
        }
      }
      for (int round = 1; round <= rounds; round++) {
        for (Contender each : CONTENDERS) {
          turns.computeIfAbsent(each, _ -> new ArrayList<>()).add(turn(lab, each));
        }
        System.err.println("round " + round + " of " + rounds);
      }
      System.out.println(Machine.describe(lab) + "\n");
      print(turns);
    }
  }

  private static Turn turn(BenchmarkEnvironment lab, Contender contender) throws Exception {
    URI url = lab.url(contender);
    double alone = seconds(lab, contender);
    double quiet = OTHERS.run(url, new CostMeter(lab, contender)).latencies().percentile(99);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<BurstLoad.Outcome> others =
          threads.submit(() -> OTHERS.run(url, new CostMeter(lab, contender)));
      List<Double> floods = new ArrayList<>();
      while (!others.isDone()) {
        floods.add(seconds(lab, contender));
      }
      return new Turn(alone, median(floods), quiet, others.get().latencies().percentile(99));
    }
  }

  private static double seconds(BenchmarkEnvironment lab, Contender contender) {
    return EVENTS / FLOOD.run(lab.url(contender), new CostMeter(lab, contender)).perSecond();
  }

  private static void print(Map<Contender, List<Turn>> turns) {
    System.out.println(
        "| | flood alone | flood beside others | p99 of others alone | p99 of others beside a flood |");
    System.out.println("| --- | --- | --- | --- | --- |");
    List<Turn> direct = turns.getOrDefault(Contender.DIRECT, List.of());
    turns.forEach((contender, each) ->
        System.out.printf(
            "| %s | %s | %s | %s | %s |%n",
            contender.title(),
            cell("%.2f s", each, direct, Turn::alone),
            cell("%.2f s", each, direct, Turn::beside),
            cell("%.1f ms", each, direct, Turn::quiet),
            cell("%.1f ms", each, direct, Turn::flooded)));
  }

  private static String cell(
      String format, List<Turn> turns, List<Turn> direct, ToDoubleFunction<Turn> value) {
    List<Double> values = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < turns.size(); i++) {
      values.add(value.applyAsDouble(turns.get(i)));
      ratios.add(values.getLast() / value.applyAsDouble(direct.get(i)));
    }
    return String.format(Locale.ROOT, format + " (%.1f ×)", median(values), median(ratios));
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }
}
