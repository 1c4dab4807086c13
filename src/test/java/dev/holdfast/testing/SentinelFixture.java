package dev.holdfast.testing;

import static dev.holdfast.testing.RedisServers.awaitStart;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A primary with two replicas, and three sentinels that make another one the primary within
 * seconds.
 */
public final class SentinelFixture implements AutoCloseable {

  /** What the sentinels call them. */
  public static final String NAME = "holdfast";

  private static final Pattern OFFSET = Pattern.compile("(?:master|slave)_repl_offset:(\\d+)");
  private static final int REPLICAS = 2;
  private static final int SENTINELS = 3;

  private final List<RedisFixture> servers = new ArrayList<>();
  private final List<RedisFixture> sentinels = new ArrayList<>();

  private SentinelFixture(List<Host> hosts, List<String> settings) {
    try {
      start(hosts.getFirst(), settings);
      RedisFixture primary = servers.getFirst();
      String address = primary.host().address() + " " + primary.port();
      List<String> replica = new ArrayList<>(settings);
      replica.addAll(List.of("--replicaof", address));
      for (int i = 0; i < REPLICAS; i++) {
        start(hosts.get(1 + i), replica);
      }
      // Before the sentinels: these look for replicas at first, and then not for ten seconds.
      RedisFixture first = servers.getFirst();
      awaitStart(() -> info(first).contains("connected_slaves:" + REPLICAS));
      servers.subList(1, servers.size()).forEach(each -> awaitStart(() -> isInSync(each)));
      for (int i = 0; i < SENTINELS; i++) {
        sentinels.add(RedisFixture.startSentinel(hosts.get(i), configuration(address)));
      }
      sentinels.forEach(each ->
          awaitStart(() ->
              each.command("SENTINEL", "CKQUORUM", NAME).startsWith("+OK " + SENTINELS + " usable")
                  && each.command("SENTINEL", "REPLICAS", NAME).equals("*" + REPLICAS)));
    } catch (RuntimeException failure) {
      close();
      throw failure;
    }
  }

  /** Starts all, and returns when the sentinels know each other and the replicas. */
  public static SentinelFixture start() {
    return start(List.of(Host.LOCAL, Host.LOCAL, Host.LOCAL));
  }

  /**
   * Starts a server and a sentinel on each of three hosts. The first server is the primary.
   *
   * @param settings of the servers, each as {@code --key} and its value
   */
  public static SentinelFixture start(List<Host> hosts, String... settings) {
    return new SentinelFixture(hosts, List.of(settings));
  }

  private void start(Host host, List<String> settings) {
    List<String> all = new ArrayList<>(List.of("--repl-diskless-sync-delay", "0"));
    all.addAll(settings);
    servers.add(RedisFixture.start(host, Ports.free(), all.toArray(String[]::new)));
  }

  private static List<String> configuration(String address) {
    return List.of(
        "sentinel monitor " + NAME + " " + address + " 2",
        "sentinel down-after-milliseconds " + NAME + " 500",
        "sentinel failover-timeout " + NAME + " 1500");
  }

  /** The sentinels, as {@code quarkus.redis.hosts} has them. */
  public String hosts() {
    return RedisServers.hosts(sentinels);
  }

  /** A server, counted from 0. The first one was the primary at first. */
  public RedisFixture server(int number) {
    return servers.get(number);
  }

  /** The number of a server. */
  public int number(RedisFixture server) {
    return servers.indexOf(server);
  }

  /** The sentinels. */
  public List<RedisFixture> sentinels() {
    return List.copyOf(sentinels);
  }

  /** Whom the first sentinel that answers takes for the primary. */
  public RedisFixture primary() {
    RedisFixture sentinel =
        sentinels.stream().filter(RedisFixture::isRunning).findFirst().orElseThrow();
    return primaryOf(sentinel);
  }

  /** Whom a sentinel takes for the primary. */
  public RedisFixture primaryOf(RedisFixture sentinel) {
    String port = sentinel.reply("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME).get(1);
    return servers.stream()
        .filter(server -> Integer.toString(server.port()).equals(port))
        .findFirst()
        .orElseThrow();
  }

  /** One that is not the primary. */
  public RedisFixture replica() {
    RedisFixture primary = primary();
    return servers.stream()
        .filter(server -> server != primary && server.isRunning())
        .findFirst()
        .orElseThrow();
  }

  /** Returns when the sentinels have made another one the primary. */
  public void awaitFailover(RedisFixture lost) {
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> primary() != lost && primary().command("ROLE").equals("*3"));
  }

  /** Returns when every other server follows the primary. */
  public void awaitInSync() {
    await()
        .until(() -> {
          RedisFixture primary = primary();
          return servers.stream()
              .filter(server -> server != primary && server.isRunning())
              .allMatch(SentinelFixture::isInSync);
        });
  }

  /**
   * Has the primary put all writes off, and returns when the replicas have every one before. What
   * was answered is then safe if the primary is killed.
   */
  public void putWritesOff(Duration most) {
    RedisFixture primary = primary();
    primary.command("CLIENT", "PAUSE", Long.toString(most.toMillis()), "WRITE");
    await()
        .pollInterval(Duration.ofMillis(5))
        .until(() ->
            servers.stream()
                .filter(server -> server != primary && server.isRunning())
                .allMatch(server -> offset(server) == offset(primary)));
  }

  /** Has the replicas miss every write from now on, though the sentinels don't notice. */
  public void stopReplication() {
    RedisFixture primary = primary();
    // A replica whose PSYNC is refused falls back to SYNC.
    primary.command("ACL", "SETUSER", "default", "-psync", "-sync");
    primary.command("CLIENT", "KILL", "TYPE", "replica");
  }

  private static long offset(RedisFixture server) {
    Matcher offset = OFFSET.matcher(info(server));
    return offset.find() ? Long.parseLong(offset.group(1)) : -1;
  }

  private static boolean isInSync(RedisFixture replica) {
    return info(replica).contains("master_link_status:up");
  }

  private static String info(RedisFixture server) {
    return server.reply("INFO", "replication").getFirst();
  }

  @Override
  public void close() {
    sentinels.forEach(RedisFixture::close);
    servers.forEach(RedisFixture::close);
  }
}
