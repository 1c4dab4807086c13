package dev.holdfast.simulation;

import dev.holdfast.testing.RedisProxy;
import dev.holdfast.wiring.FleetReplica;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * Shows what a fleet does to its Redis while it idles, and after losses. A program and not a test:
 * its figures depend on the machine. Arguments: a scenario, replicas, calls that run on each.
 */
final class FleetSimulation {

  private static final Fleet.Timing TIMING =
      new Fleet.Timing(Duration.ofSeconds(1), Duration.ofSeconds(3));
  private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration STEADY = Duration.ofSeconds(5);
  private static final Duration MEASURED = Duration.ofSeconds(20);
  private static final int PROBES = 20;

  private final Fleet fleet;
  private long began;
  private RedisUse before = new RedisUse(0, 0);

  private FleetSimulation(Fleet fleet) {
    this.fleet = fleet;
  }

  /** Runs one scenario. */
  public static void main(String[] args) throws Exception {
    int replicas = Integer.parseInt(args[1]);
    int calls = Integer.parseInt(args[2]);
    try (Fleet fleet = new Fleet(TIMING, REDIS_TIMEOUT)) {
      FleetSimulation simulation = new FleetSimulation(fleet);
      switch (args[0]) {
        case "idle" -> simulation.idle(replicas);
        case "vanish" -> simulation.vanish(replicas, calls, Integer.parseInt(args[3]));
        case "zone" -> simulation.zone(replicas, calls);
        case "freeze" -> simulation.freeze(replicas, calls);
        default -> throw new IllegalArgumentException(args[0]);
      }
    }
    System.exit(0); // Pumps of replicas that vanished may still wait.
  }

  private void begin(String what) {
    say("%s%n", what);
    began = System.nanoTime();
    before = RedisUse.of(fleet.redis);
  }

  private double seconds() {
    return (System.nanoTime() - began) / 1e9;
  }

  private RedisUse use() {
    return RedisUse.of(fleet.redis).since(before);
  }

  @SuppressWarnings("AnnotateFormatMethod") // The annotation is in no library of this program.
  private static void say(String format, Object... values) {
    System.out.printf(Locale.ROOT, format, values);
    System.out.flush();
  }

  private void start(int replicas, int calls) throws Exception {
    fleet.start(replicas, fleet.redis::url);
    openCalls(calls);
  }

  private void openCalls(int calls) throws Exception {
    begin("opening " + fleet.living.size() * calls + " calls");
    fleet.openCalls(calls);
    say("opened in %.1f s%n", seconds());
    Thread.sleep(STEADY);
  }

  private void idle(int replicas) throws Exception {
    fleet.start(replicas, fleet.redis::url);
    Thread.sleep(STEADY);
    begin(replicas + " replicas without clients");
    Thread.sleep(MEASURED);
    RedisUse use = use();
    double time = seconds();
    say(
        "  commands/s: %.0f, for each replica %.2f; CPU of Redis: %.2f %%, for each replica %.1f us/s%n",
        use.commands() / time,
        use.commands() / time / replicas,
        100 * use.cpuSeconds() / time,
        1e6 * use.cpuSeconds() / time / replicas);
  }

  private void vanish(int replicas, int calls, int lost) throws Exception {
    start(replicas, calls);
    List<FleetReplica> survivors = fleet.living.subList(lost, lost + PROBES);
    try (AppendLatency latency = new AppendLatency(survivors)) {
      long attempts = fleet.recorded();
      Thread.sleep(STEADY);
      say(
          "  appends before: p99 %.1f ms, max %.1f ms%n",
          latency.quantile(.99), latency.quantile(1));
      begin(lost + " of " + replicas + " replicas vanish, with " + calls + " calls each");
      attempts -=
          fleet.living.subList(0, lost).stream().mapToLong(each -> each.recorded.get()).sum();
      fleet.vanish(lost);
      awaitWhole();
      report(lost * calls, attempts, latency);
      Thread.sleep(STEADY);
      say("  5 s later: attempts %d%n", fleet.recorded() - attempts);
    }
  }

  private void awaitWhole() throws InterruptedException {
    long said = System.nanoTime();
    while (!fleet.isWhole()) {
      Thread.sleep(50);
      if (System.nanoTime() - said > 5e9) {
        said = System.nanoTime();
        say(
            "  ... %.0f s: adopted %d, recorded %d, commands %d%n",
            seconds(), fleet.adopted(), fleet.recorded(), use().commands());
      }
    }
  }

  private void report(int streams, long attempts, AppendLatency latency) {
    RedisUse use = use();
    long tried = fleet.recorded() - attempts;
    say(
        "  one writer each after %.1f s; adopted %d of %d; attempts %d; commands %,d, %.1f for each stream; CPU of Redis %.1f s%n",
        seconds(),
        fleet.adopted(),
        streams,
        tried,
        use.commands(),
        (double) use.commands() / streams,
        use.cpuSeconds());
    say(
        "  appends meanwhile: p99 %.1f ms, max %.1f ms%n",
        latency.quantile(.99), latency.quantile(1));
    say("  streams with a writer that is not the owner: %d%n", fleet.fenced().size());
  }

  /** A third of the replicas reaches Redis only through a network that breaks for a while. */
  private void zone(int replicas, int calls) throws Exception {
    try (RedisProxy network = new RedisProxy(fleet.redis.port())) {
      fleet.start(replicas / 3, network::url);
      List<FleetReplica> cut = List.copyOf(fleet.living);
      fleet.start(replicas - replicas / 3, fleet.redis::url);
      openCalls(calls);
      try (AppendLatency latency =
          new AppendLatency(fleet.living.subList(cut.size(), cut.size() + PROBES))) {
        begin("a zone of " + cut.size() + " of " + replicas + " replicas is cut off");
        fleet.living.removeAll(cut);
        long attempts = fleet.recorded();
        network.cut();
        awaitWhole();
        report(cut.size() * calls, attempts, latency);
        fleet.living.addAll(cut);
        attempts = fleet.recorded();
        begin("it returns");
        network.mend();
        awaitWhole();
        report(cut.size() * calls, attempts, latency);
        Thread.sleep(STEADY.multipliedBy(2));
        say("  10 s later: ");
        report(cut.size() * calls, attempts, latency);
      }
    }
  }

  /** Redis itself is silent for longer than replicas may be. */
  private void freeze(int replicas, int calls) throws Exception {
    start(replicas, calls);
    long attempts = fleet.recorded();
    for (Duration frozen : List.of(TIMING.deadAfter().plusSeconds(1), Duration.ofSeconds(10))) {
      begin("Redis is frozen for " + frozen);
      fleet.redis.freeze();
      Thread.sleep(frozen);
      fleet.redis.thaw();
      Thread.sleep(STEADY.multipliedBy(3));
      say("  adopted %d; attempts %d%n", fleet.adopted(), fleet.recorded() - attempts);
      RedisUse use = use();
      say("  commands %,d; CPU of Redis %.1f s%n", use.commands(), use.cpuSeconds());
      begin("15 s later");
      Thread.sleep(STEADY);
      say("  commands/s %.0f%n", use().commands() / seconds());
      awaitWhole();
    }
  }
}
