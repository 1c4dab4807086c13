package dev.holdfast.bench;

import dev.holdfast.testing.ClusterFixture;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * Measures how costs grow with clients that wait, stored sessions, events of a stream, the size of
 * an event, replicas, and shards of Redis. Each has its own Redis and gateways.
 */
final class GrowthBenchmark {

  private static final double KILO = 1000;

  /** After it, clients that wait have had a comment, and all is reported. */
  private static final Duration SETTLED = Duration.ofSeconds(70);

  private static final Duration TIME = Duration.ofSeconds(20);
  private static final double SECONDS = TIME.toMillis() / KILO;
  private static final CallLoad CALLS = new CallLoad(16, Duration.ofSeconds(10));

  private final Map<String, Callable<Curve>> curves = new LinkedHashMap<>();

  private GrowthBenchmark() {
    curves.put("waiting", () -> waiting(1000, 2000, 4000, 8000, 16_000));
    curves.put("sessions", () -> sessions(100, 1000, 10_000, 100_000, 1_000_000));
    curves.put("events", () -> events(100, 1000, 10_000, 100_000, 1_000_000));
    curves.put("bytes", () -> bytes(100, 1000, 10_000, 100_000, 1_000_000, 4_000_000));
    curves.put("replicas", () -> replicas(1, 2, 4, 8, 16));
    curves.put("shards", () -> shards(1, 3, 6));
  }

  /**
   * Prints tables as Markdown, and draws them.
   *
   * @param args a folder for the drawings, and the curves; without names all of them
   */
  public static void main(String[] args) throws Exception {
    GrowthBenchmark benchmark = new GrowthBenchmark();
    List<String> chosen = List.of(args).subList(1, args.length);
    for (var each : benchmark.curves.entrySet()) {
      if (chosen.isEmpty() || chosen.contains(each.getKey())) {
        Curve curve = each.getValue().call();
        Files.writeString(Path.of(args[0], "growth-" + each.getKey() + ".svg"), curve.svg());
        System.out.println(curve.table());
      }
    }
  }

  /** Gateways on a Redis, and what both have used. */
  private static final class Lab implements AutoCloseable {

    private final List<RedisFixture> redis;
    private final Map<String, String> store;
    private final ServerProcess server = BenchmarkEnvironment.start(FastUpstream.class);
    private final List<Gateway> gateways = new ArrayList<>();

    Lab() {
      redis = List.of(RedisFixture.start());
      store = redis.getFirst().gatewaySettings();
    }

    /** Closes the cluster, too. */
    Lab(ClusterFixture cluster) {
      redis = cluster.servers();
      store = redis.getFirst().gatewaySettings("quarkus.redis.client-type", "cluster");
      store.put("quarkus.redis.hosts", cluster.hosts());
    }

    /** Adds a gateway in front of local tools, or of a server. */
    Gateway add(boolean local, Map<String, String> more, String... options) {
      Map<String, String> settings = new HashMap<>(store);
      if (!local) {
        settings.put("holdfast.upstream.url", "http://127.0.0.1:" + server.port() + "/mcp");
      }
      Stream.of("connections", "connections-per-address")
          .forEach(limit -> settings.put("holdfast.limits." + limit, "1000000"));
      Stream.of("sessions", "sessions-per-address")
          .forEach(limit -> settings.put("holdfast.limits." + limit, "10000000"));
      settings.putAll(more);
      Gateway gateway = Gateway.start(PackagedProgram.PROGRAM, settings, options);
      gateways.add(gateway);
      return gateway;
    }

    Use use() {
      List<ProcessHandle> own = new ArrayList<>();
      for (Gateway each : gateways) {
        own.add(ProcessHandle.of(each.pid()).orElseThrow());
      }
      List<ProcessHandle> stores = new ArrayList<>();
      for (RedisFixture each : redis) {
        stores.add(ProcessHandle.of(number(each, "process_id")).orElseThrow());
      }
      return new Use(ProcessUse.of(own), ProcessUse.of(stores), number("total_commands_processed"));
    }

    /** The sum of a number that each server of Redis tells. */
    long number(String field) {
      return redis.stream().mapToLong(each -> number(each, field)).sum();
    }

    private static long number(RedisFixture server, String field) {
      return Long.parseLong(server.info(field));
    }

    @Override
    public void close() {
      gateways.forEach(Gateway::close);
      server.close();
      redis.forEach(RedisFixture::close);
    }
  }

  /** What gateways and Redis have used until now. */
  private record Use(ProcessUse own, ProcessUse store, long commands) {

    /** CPU time in µs without compilers, CPU time of Redis in µs, and commands, each since then. */
    Double[] since(Use before, double operations) {
      return new Double[] {
        own.since(before.own).cpuMicros(false) / operations,
        store.since(before.store).cpuMicros(false) / operations,
        (commands - before.commands) / operations
      };
    }
  }

  private static Curve waiting(int... sizes) throws Exception {
    Curve curve =
        Curve.of("clients that wait", "CPU, % of a core", "commands/s", "live heap, kB a client");
    try (Lab lab = new Lab()) {
      Gateway gateway = lab.add(true, Map.of(), "-Xmx500m", "-XX:+UseSerialGC");
      close(ConcurrentSessions.open(gateway.url(), 500).gradually(McpSession::waitOnly));
      Thread.sleep(TIME);
      ProcessMemory memory = new ProcessMemory(gateway);
      long empty = memory.liveHeap();
      List<HttpConnection> open = new ArrayList<>();
      for (int size : sizes) {
        open.addAll(
            ConcurrentSessions.open(gateway.url(), size - open.size())
                .gradually(McpSession::waitOnly));
        Thread.sleep(SETTLED);
        Use before = lab.use();
        Thread.sleep(TIME);
        Double[] used = lab.use().since(before, SECONDS);
        double heap = (memory.liveHeap() - empty) / KILO / size;
        curve.add(size, used[0] / 10_000, used[2], heap);
      }
      close(open);
    }
    return curve;
  }

  private static void close(List<HttpConnection> connections) throws IOException {
    for (HttpConnection each : connections) {
      each.close();
    }
  }

  private static Curve sessions(int... sizes) throws Exception {
    Curve curve =
        Curve.of(
            "stored sessions",
            "CPU of a call, µs",
            "of Redis, µs",
            "commands of a call",
            "Redis, kB a session");
    try (Lab lab = new Lab()) {
      // A server would keep a connection of each.
      Gateway filling = lab.add(true, Map.of(), "-Xmx500m");
      Map<String, String> brief = Map.of("holdfast.stream.completed-ttl", "1s");
      Gateway gateway = lab.add(false, brief, "-Xmx500m");
      CallLoad.Outcome _ = CALLS.lasting(SETTLED).run(gateway.url(), "", () -> {}, () -> {});
      int stored = 0;
      for (int size : sizes) {
        Thread.sleep(TIME); // The events of the last calls go.
        long before = lab.number("used_memory");
        int added = size - stored;
        for (int more; (more = Math.min(2000, size - stored)) > 0; stored += more) {
          ConcurrentSessions.open(filling.url(), more).gradually(McpSession::leave);
        }
        double bytes = lab.number("used_memory") - before;
        Double[] used = costs(lab, gateway);
        curve.add(size, used[0], used[1], used[2], bytes / KILO / added);
      }
    }
    return curve;
  }

  private static Curve events(int... sizes) throws Exception {
    Curve curve =
        Curve.of("events of a stream", "CPU of an event, µs", "of Redis, µs", "last 100 again, ms");
    Map<String, String> more =
        Map.of(
            "holdfast.stream.max-events",
            "10000000",
            "holdfast.log.stream-bytes",
            "10G",
            "holdfast.log.session-bytes",
            "10G",
            "holdfast.redis.max-bytes",
            "10G");
    try (Lab lab = new Lab()) {
      Gateway gateway = lab.add(false, more, "-Xmx500m");
      for (int i = 0; i < 5; i++) {
        Double[] _ = burst(lab, gateway, 100_000, BurstLoad.SIZE);
      }
      for (int size : sizes) {
        Double[] used = burst(lab, gateway, size, BurstLoad.SIZE);
        curve.add(size, used);
      }
    }
    return curve;
  }

  private static Curve bytes(int... sizes) throws Exception {
    Curve curve = Curve.of("bytes of an event", "CPU of an event, µs", "of Redis, µs");
    try (Lab lab = new Lab()) {
      Gateway gateway = lab.add(false, Map.of(), "-Xmx500m");
      for (int i = 0; i < 5; i++) {
        Double[] _ = burst(lab, gateway, 9_000, BurstLoad.SIZE);
      }
      for (int size : sizes) {
        Double[] used = burst(lab, gateway, Math.clamp(100_000_000 / size, 25, 9_000), size);
        curve.add(size, used[0], used[1]);
      }
    }
    return curve;
  }

  /** The costs of an event, and the time in ms in which the last 100 of a burst are read again. */
  private static Double[] burst(Lab lab, Gateway gateway, int events, int size) throws IOException {
    try (McpSession session = McpSession.open(gateway.url(), "")) {
      BurstCheck check = new BurstCheck(events);
      session.note(Math.max(1, events - 100));
      Use before = lab.use();
      session.call("burst", BurstLoad.arguments(events, 0, size), check);
      check.requireComplete();
      Double[] used = lab.use().since(before, events);
      long begin = System.nanoTime();
      session.resume(gateway.url(), session.noted(), (_, _, _) -> {});
      return new Double[] {used[0], used[1], (System.nanoTime() - begin) / 1e6};
    }
  }

  private static Curve replicas(int... sizes) throws Exception {
    Curve curve = Curve.of("replicas", "commands/s of each", "CPU of each, % of a core");
    try (Lab lab = new Lab()) {
      for (int size : sizes) {
        while (lab.gateways.size() < size) {
          Gateway _ =
              lab.add(true, Map.of(), "-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
        }
        Thread.sleep(TIME);
        Use before = lab.use();
        Thread.sleep(TIME);
        Double[] used = lab.use().since(before, SECONDS * size);
        curve.add(size, used[2], used[0] / 10_000);
      }
    }
    return curve;
  }

  private static Curve shards(int... sizes) throws Exception {
    Curve curve =
        Curve.of("shards", "CPU of a call, µs", "of all shards, µs", "commands of a call");
    for (int size : sizes) {
      try (Lab lab = new Lab(ClusterFixture.ofPrimaries(size))) {
        Gateway gateway = lab.add(false, Map.of(), "-Xmx500m");
        CallLoad.Outcome _ = CALLS.lasting(SETTLED).run(gateway.url(), "", () -> {}, () -> {});
        curve.add(size, costs(lab, gateway));
      }
    }
    return curve;
  }

  /** CPU time in µs of the gateway and of Redis, and commands, of a call. */
  private static Double[] costs(Lab lab, Gateway gateway) {
    List<Use> uses = new ArrayList<>();
    Runnable read = () -> uses.add(lab.use());
    CallLoad.Outcome calls = CALLS.run(gateway.url(), "", read, read);
    return uses.getLast().since(uses.getFirst(), calls.times().size());
  }
}
