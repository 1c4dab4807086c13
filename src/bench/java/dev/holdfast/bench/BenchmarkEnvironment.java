package dev.holdfast.bench;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ServerProcess;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * All that is measured, each a process of its own on this machine: Redis, the server, and whatever
 * stands in front of it, which is started when it is first asked for.
 */
final class BenchmarkEnvironment implements AutoCloseable {

  private static final Pattern LISTENING = Pattern.compile("listening on (\\d+)");

  /** A burst of 50 × 4,000 events doesn't fit into the default of 10M. */
  private static final String MEMORY = "192M";

  private final Thread atExit =
      new Thread(
          () -> ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly));
  private final RedisFixture redis = RedisFixture.start();
  private final ServerProcess server = start(FastUpstream.class);
  private final Map<Contender, Gateway> gateways = new EnumMap<>(Contender.class);
  private final Map<Contender, Gateway> replicas = new EnumMap<>(Contender.class);
  private final List<Nginx> nchan = new ArrayList<>();
  private final @Nullable Path before;
  private @Nullable Nginx nginx;
  private @Nullable ServerProcess vertx;

  /**
   * Starts Redis and the server. All ends with {@link #close}, or else with this JVM.
   *
   * @param before the {@code quarkus-run.jar} of another build; null for none
   */
  BenchmarkEnvironment(@Nullable Path before) {
    this.before = before;
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /** Who can take part on this machine. */
  Set<Contender> contenders() {
    Set<Contender> all = EnumSet.allOf(Contender.class);
    if (Nginx.executable().isEmpty()) {
      all.remove(Contender.NGINX);
    }
    if (Nchan.module().isEmpty()) {
      all.remove(Contender.NCHAN);
    }
    if (before == null) {
      all.removeIf(Contender::isBefore);
    }
    return all;
  }

  /** Where a contender is. */
  URI url(Contender contender) {
    return switch (contender) {
      case DIRECT -> URI.create("http://127.0.0.1:" + server.port() + "/mcp");
      case NGINX -> nginx().url();
      case VERTX -> URI.create("http://127.0.0.1:" + vertx().port() + "/mcp");
      case NCHAN -> nchan().getFirst().url();
      case UNLOGGED, MEMORY, MEMORY_BEFORE, REDIS, REDIS_BEFORE -> gateway(contender).url();
    };
  }

  /** Who is asked for what a contender has written: for Redis another replica. */
  URI replayUrl(Contender contender) {
    if (contender == Contender.NCHAN) {
      return nchan().getLast().url();
    }
    return contender.writesToRedis()
        ? replicas.computeIfAbsent(contender, this::startGateway).url()
        : url(contender);
  }

  /** The processes of a contender that was started. */
  List<ProcessHandle> processes(Contender contender) {
    return switch (contender) {
      case DIRECT -> List.of();
      case NGINX -> nginx().processes();
      case VERTX -> List.of(vertx().process().toHandle());
      case NCHAN -> nchan().getFirst().processes();
      case UNLOGGED, MEMORY, MEMORY_BEFORE, REDIS, REDIS_BEFORE ->
          List.of(ProcessHandle.of(gateway(contender).pid()).orElseThrow());
    };
  }

  /** The process of Redis. */
  List<ProcessHandle> redisProcess() {
    long pid = Long.parseLong(redis.info("process_id"));
    return List.of(ProcessHandle.of(pid).orElseThrow());
  }

  /** How many commands Redis has run, within scripts too. */
  long redisCommands() {
    return Long.parseLong(redis.info("total_commands_processed"));
  }

  /**
   * Starts a gateway with Redis, for the caller to close, in front of the server or of local tools.
   */
  Gateway freshGateway(Contender contender, boolean localUpstream) {
    Map<String, String> settings = settings(contender);
    if (localUpstream) {
      settings.remove("holdfast.upstream.url");
    }
    return startGateway(contender, settings);
  }

  /** What a contender has said so far; nothing if it is a plain proxy. */
  String output(Contender contender) {
    if (contender == Contender.NCHAN) {
      return String.join(
          "\n", server.output(), nchan().getFirst().output(), nchan().getLast().output());
    }
    Gateway gateway = gateways.get(contender);
    Gateway replica = replicas.get(contender);
    return (gateway == null ? "" : gateway.output() + "\n")
        + (replica == null ? "" : replica.output());
  }

  /** The version of Redis. */
  String redisVersion() {
    return redis.info("redis_version");
  }

  /** Ends everything. */
  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    gateways.values().forEach(Gateway::close);
    replicas.values().forEach(Gateway::close);
    if (nginx != null) {
      nginx.close();
    }
    if (vertx != null) {
      vertx.close();
    }
    nchan.forEach(Nginx::close);
    server.close();
    redis.close();
  }

  private Nginx nginx() {
    if (nginx == null) {
      nginx = Nginx.inFrontOf(url(Contender.DIRECT));
    }
    return nginx;
  }

  /** Two of them on one Redis: the first gets the calls, the last is asked for replays. */
  private List<Nginx> nchan() {
    while (nchan.size() < 2) {
      nchan.add(Nchan.inFrontOf(url(Contender.DIRECT), redis.url()));
    }
    return nchan;
  }

  private ServerProcess vertx() {
    if (vertx == null) {
      vertx =
          start(VertxProxy.class, url(Contender.DIRECT).toString(), Integer.toString(Ports.free()));
    }
    return vertx;
  }

  private Gateway gateway(Contender contender) {
    return gateways.computeIfAbsent(contender, this::startGateway);
  }

  private Gateway startGateway(Contender contender) {
    return startGateway(contender, settings(contender));
  }

  private Gateway startGateway(Contender contender, Map<String, String> settings) {
    Path program = contender.isBefore() && before != null ? before : PackagedProgram.PROGRAM;
    return gateway(program, settings);
  }

  /** Starts a gateway with the heap of all gateways here, and the collector of the image. */
  static Gateway gateway(Path program, Map<String, String> settings) {
    return Gateway.start(program, settings, "-Xmx512m", "-XX:+UseSerialGC");
  }

  private Map<String, String> settings(Contender contender) {
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.upstream.url", url(Contender.DIRECT).toString());
    // All clients here have one address.
    settings.put("holdfast.limits.connections-per-address", "10000");
    settings.put("holdfast.limits.sessions-per-address", "10000");
    if (contender.isInMemory()) {
      settings.put("holdfast.memory.max-bytes", MEMORY);
    } else {
      settings.put("holdfast.store", "redis");
      settings.put("quarkus.redis.hosts", redis.url());
    }
    if (contender == Contender.UNLOGGED) {
      settings.put("holdfast.replay.enabled", "false");
    }
    return settings;
  }

  /** Starts a program of these benchmarks, which says where it listens. */
  static ServerProcess start(Class<?> program, String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-cp",
                System.getProperty("java.class.path"),
                program.getName()));
    command.addAll(List.of(arguments));
    return ServerProcess.start(new ProcessBuilder(command), LISTENING);
  }
}
