package dev.holdfast.bench;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.OpenIdProvider;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.DoubleStream;

/**
 * Compares calls with a key, and with an access token of a real provider, to calls without. Three
 * gateways with memory take turns in each round, so that what disturbs the machine for a while
 * disturbs all of them.
 *
 * <p>Prints the medians as Markdown. The arguments are the number of rounds, and the seconds for
 * which each gateway works before the first one.
 */
final class AuthenticationBenchmark {

  private static final int SESSIONS = 16;
  private static final Duration TURN = Duration.ofSeconds(2);
  private static final String MEMORY = "192M";

  private enum Mode {
    OFF,
    KEY,
    TOKEN
  }

  /** A gateway, and the header that its requests need. */
  private record Contestant(Gateway gateway, String header) {}

  /**
   * One turn.
   *
   * @param micros CPU time of a call in the gateway, without the JIT compiler's
   */
  private record Turn(double perSecond, double micros) {}

  private AuthenticationBenchmark() {}

  /** Runs it. */
  public static void main(String[] args) {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 25;
    int warm = args.length > 1 ? Integer.parseInt(args[1]) : 20;
    // Tokens live for ten minutes.
    try (ServerProcess server = BenchmarkEnvironment.start(FastUpstream.class);
        OpenIdProvider provider = OpenIdProvider.start();
        Gateway off = gateway(server, Map.of())) {
      AccessKey key = AccessKey.random();
      int port = Ports.free();
      String root = "http://127.0.0.1:" + port;
      try (Gateway keyed = gateway(server, Map.of("holdfast.auth.keys.bench.hash", key.hash()));
          Gateway checked =
              gateway(
                  server,
                  Map.of(
                      "quarkus.http.port",
                      Integer.toString(port),
                      "holdfast.auth.issuers.bench.url",
                      provider.issuer(),
                      "holdfast.auth.public-url",
                      root))) {
        Map<Mode, Contestant> contestants = new EnumMap<>(Mode.class);
        contestants.put(Mode.OFF, new Contestant(off, ""));
        contestants.put(Mode.KEY, new Contestant(keyed, bearer(key.value())));
        contestants.put(
            Mode.TOKEN,
            new Contestant(checked, bearer(provider.token("alice", root + "/mcp", "tools"))));
        contestants.values().forEach(each -> turn(each, Duration.ofSeconds(warm)));
        print(measure(contestants, rounds));
      }
    }
  }

  private static String bearer(String value) {
    return "Authorization: Bearer " + value + "\r\n";
  }

  private static Gateway gateway(ServerProcess server, Map<String, String> more) {
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.upstream.url", "http://127.0.0.1:" + server.port() + "/mcp");
    settings.put("holdfast.limits.connections-per-address", "10000");
    settings.put("holdfast.memory.max-bytes", MEMORY);
    settings.putAll(more);
    return Gateway.start(PackagedProgram.PROGRAM, settings, "-Xmx512m");
  }

  private static Map<Mode, List<Turn>> measure(Map<Mode, Contestant> contestants, int rounds) {
    Map<Mode, List<Turn>> turns = new EnumMap<>(Mode.class);
    for (int round = 0; round < rounds; round++) {
      contestants.forEach((mode, contestant) ->
          turns.computeIfAbsent(mode, _ -> new ArrayList<>()).add(turn(contestant, TURN)));
      System.err.println("round " + (round + 1) + " of " + rounds);
    }
    return turns;
  }

  private static Turn turn(Contestant contestant, Duration time) {
    List<ProcessHandle> process = List.of(ProcessHandle.of(contestant.gateway.pid()).orElseThrow());
    List<ProcessUse> readings = new ArrayList<>();
    CallLoad.Outcome outcome =
        new CallLoad(SESSIONS, time)
            .run(
                contestant.gateway.url(),
                contestant.header,
                () -> readings.add(read(process)),
                () -> readings.add(read(process)));
    double micros = readings.getLast().since(readings.getFirst()).cpuMicros(false);
    return new Turn(outcome.perSecond(), micros / outcome.times().size());
  }

  private static ProcessUse read(List<ProcessHandle> process) {
    try {
      return ProcessUse.of(process);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static void print(Map<Mode, List<Turn>> turns) {
    System.out.println("| | calls/s | to off | CPU of a call | to off | to off, all rounds |");
    System.out.println("| --- | --- | --- | --- | --- | --- |");
    List<Turn> off = turns.getOrDefault(Mode.OFF, List.of());
    turns.forEach((mode, each) -> {
      double[] rates = each.stream().mapToDouble(Turn::perSecond).toArray();
      double[] costs = each.stream().mapToDouble(Turn::micros).toArray();
      double[] rateRatios = new double[rates.length];
      double[] costRatios = new double[costs.length];
      for (int i = 0; i < rates.length; i++) {
        rateRatios[i] = rates[i] / off.get(i).perSecond();
        costRatios[i] = costs[i] / off.get(i).micros();
      }
      System.out.printf(
          Locale.ROOT,
          "| %s | %.0f | %.2f × | %.1f µs | %.3f × | %.2f–%.2f × |%n",
          mode.toString().toLowerCase(Locale.ROOT),
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
