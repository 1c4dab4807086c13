package dev.holdfast.bench;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ServerProcess;
import java.net.URI;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
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
  private final ServerProcess server = startServer();
  private final Map<Contender, Gateway> gateways = new EnumMap<>(Contender.class);
  private @Nullable Gateway replica;
  private @Nullable Nginx nginx;

  /** Starts Redis and the server. All ends with {@link #close}, or else with this JVM. */
  BenchmarkEnvironment() {
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /** Who can take part on this machine. */
  Set<Contender> contenders() {
    Set<Contender> all = EnumSet.allOf(Contender.class);
    if (Nginx.executable().isEmpty()) {
      all.remove(Contender.NGINX);
    }
    return all;
  }

  /** Where a contender is. */
  URI url(Contender contender) {
    return switch (contender) {
      case DIRECT -> URI.create("http://127.0.0.1:" + server.port() + "/mcp");
      case NGINX -> nginx().url();
      case UNLOGGED, MEMORY, REDIS -> gateways.computeIfAbsent(contender, this::startGateway).url();
    };
  }

  /** Who is asked for what a contender has written: for Redis another replica. */
  URI replayUrl(Contender contender) {
    if (contender != Contender.REDIS) {
      return url(contender);
    }
    if (replica == null) {
      replica = startGateway(Contender.REDIS);
    }
    return replica.url();
  }

  /**
   * Starts a gateway with Redis, for the caller to close, in front of the server or of local tools.
   */
  Gateway freshGateway(boolean localUpstream) {
    Map<String, String> settings = settings(Contender.REDIS);
    if (localUpstream) {
      settings.remove("holdfast.upstream.url");
    }
    return startGateway(settings);
  }

  /** What a contender has said so far; nothing if it is no gateway. */
  String output(Contender contender) {
    Gateway gateway = gateways.get(contender);
    String replicas = replica == null ? "" : replica.output();
    return gateway == null ? "" : gateway.output() + "\n" + replicas;
  }

  /** The version of Redis. */
  String redisVersion() {
    return redis
        .command(
            "EVAL",
            "return {ok=string.match(redis.call('INFO','server'),'redis_version:([%d.]+)')}",
            "0")
        .substring(1);
  }

  /** Ends everything. */
  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    gateways.values().forEach(Gateway::close);
    if (replica != null) {
      replica.close();
    }
    if (nginx != null) {
      nginx.close();
    }
    server.close();
    redis.close();
  }

  private Nginx nginx() {
    if (nginx == null) {
      nginx = Nginx.inFrontOf(url(Contender.DIRECT));
    }
    return nginx;
  }

  private Gateway startGateway(Contender contender) {
    return startGateway(settings(contender));
  }

  private static Gateway startGateway(Map<String, String> settings) {
    // Not from the cache of the tests: it holds profiles of one short run.
    return Gateway.start(settings, "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:AOTMode=off");
  }

  private Map<String, String> settings(Contender contender) {
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.upstream.url", url(Contender.DIRECT).toString());
    // All clients here have one address.
    settings.put("holdfast.limits.connections-per-address", "10000");
    if (contender == Contender.MEMORY) {
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

  private static ServerProcess startServer() {
    return ServerProcess.start(
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx512m",
            "-cp",
            System.getProperty("java.class.path"),
            FastUpstream.class.getName()),
        LISTENING);
  }
}
