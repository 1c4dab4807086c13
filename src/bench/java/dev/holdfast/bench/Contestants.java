package dev.holdfast.bench;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.ServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.DoubleStream;

/**
 * Compares calls at gateways that take turns in each round, so that whatever disturbs the machine
 * for a while disturbs all of them.
 */
final class Contestants {

  private static final int SESSIONS = 16;
  private static final Duration TURN = Duration.ofSeconds(2);
  private static final String MEMORY = "192M";

  /** A gateway, and the clients that call there. */
  private record Contestant(Gateway gateway, CallLoad load, String header) {}

  /**
   * One turn.
   *
   * @param micros CPU time of a call in the gateway, without the JIT compiler's
   */
  private record Turn(double perSecond, double micros) {}

  private final Map<String, Contestant> contestants = new LinkedHashMap<>();

  /** Starts a gateway with memory in front of a server. */
  static Gateway gateway(ServerProcess server, Map<String, String> more) {
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.upstream.url", "http://127.0.0.1:" + server.port() + "/mcp");
    settings.put("holdfast.limits.connections-per-address", "10000");
    settings.put("holdfast.memory.max-bytes", MEMORY);
    settings.putAll(more);
    return BenchmarkEnvironment.gateway(PackagedProgram.PROGRAM, settings);
  }

  /**
   * Adds a contestant. The others are compared with the first one.
   *
   * @param header of each request
   */
  Contestants with(String name, Gateway gateway, String header, boolean sessions) {
    contestants.put(name, new Contestant(gateway, new CallLoad(SESSIONS, TURN, sessions), header));
    return this;
  }

  /**
   * Measures and prints the medians as Markdown.
   *
   * @param args number of rounds, and seconds for which each gateway works before the first one
   */
  void measure(String[] args) {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 25;
    int warm = args.length > 1 ? Integer.parseInt(args[1]) : 20;
    contestants
        .values()
        .forEach(each -> {
          Turn _ = turn(each, each.load.lasting(Duration.ofSeconds(warm)));
        });
    Map<String, List<Turn>> turns = new LinkedHashMap<>();
    for (int round = 0; round < rounds; round++) {
      contestants.forEach((name, each) ->
          turns.computeIfAbsent(name, _ -> new ArrayList<>()).add(turn(each, each.load)));
      System.err.println("round " + (round + 1) + " of " + rounds);
    }
    print(turns);
  }

  private static Turn turn(Contestant contestant, CallLoad load) {
    List<ProcessHandle> process = List.of(ProcessHandle.of(contestant.gateway.pid()).orElseThrow());
    List<ProcessUse> readings = new ArrayList<>();
    CallLoad.Outcome outcome =
        load.run(
            contestant.gateway.url(),
            contestant.header,
            () -> readings.add(ProcessUse.of(process)),
            () -> readings.add(ProcessUse.of(process)));
    double micros = readings.getLast().since(readings.getFirst()).cpuMicros(false);
    return new Turn(outcome.perSecond(), micros / outcome.times().size());
  }

  private static void print(Map<String, List<Turn>> turns) {
    String first = turns.keySet().iterator().next();
    System.out.printf(
        "| | calls/s | to %1$s | CPU of a call | to %1$s | to %1$s, all rounds |%n", first);
    System.out.println("| --- | --- | --- | --- | --- | --- |");
    List<Turn> base = turns.getOrDefault(first, List.of());
    turns.forEach((name, each) -> {
      double[] rates = each.stream().mapToDouble(Turn::perSecond).toArray();
      double[] costs = each.stream().mapToDouble(Turn::micros).toArray();
      double[] rateRatios = new double[rates.length];
      double[] costRatios = new double[costs.length];
      for (int i = 0; i < rates.length; i++) {
        rateRatios[i] = rates[i] / base.get(i).perSecond();
        costRatios[i] = costs[i] / base.get(i).micros();
      }
      System.out.printf(
          Locale.ROOT,
          "| %s | %.0f | %.2f × | %.1f µs | %.3f × | %.2f–%.2f × |%n",
          name,
          median(rates),
          median(rateRatios),
          median(costs),
          median(costRatios),
          DoubleStream.of(costRatios).min().orElseThrow(),
          DoubleStream.of(costRatios).max().orElseThrow());
    });
  }

  private static double median(double[] values) {
    double[] sorted = DoubleStream.of(values).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
