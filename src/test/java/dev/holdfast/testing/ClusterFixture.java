package dev.holdfast.testing;

import static dev.holdfast.testing.RedisServers.awaitStart;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A Redis Cluster: three primaries with a replica each, which takes over within seconds. */
public final class ClusterFixture implements AutoCloseable {

  private static final int PRIMARIES = 3;
  private static final int SLOTS = 16_384;

  /** What is told of a range: first and last slot; address, port and id of two servers. */
  private static final int RANGE = 2 + 2 * 3;

  /** Servers of a cluster speak to each other on a port that is higher by that much. */
  private static final int BUS = 10_000;

  private final List<RedisFixture> servers = new ArrayList<>();

  private ClusterFixture() {
    try {
      for (int i = 0; i < 2 * PRIMARIES; i++) {
        servers.add(startServer());
      }
      join();
    } catch (RuntimeException failure) {
      close();
      throw failure;
    }
  }

  /** Starts all, and returns when all know each other and who has what. */
  public static ClusterFixture start() {
    return new ClusterFixture();
  }

  private static RedisFixture startServer() {
    return RedisFixture.start(
        Ports.freeWith(BUS),
        Stream.of(
                "--cluster-enabled yes",
                "--cluster-node-timeout 1000",
                "--cluster-require-full-coverage no",
                "--cluster-replica-validity-factor 0",
                "--repl-diskless-sync-delay 0",
                // Nobody names a replica that has not heard of its primary yet, if only a ping.
                "--repl-ping-replica-period 1")
            .flatMap(setting -> Stream.of(setting.split(" ")))
            .toArray(String[]::new));
  }

  private void join() {
    for (int i = 0; i < servers.size(); i++) {
      // Else two might begin with the same epoch, and take a while to agree.
      servers.get(i).command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      // Each with each, which is faster than to wait for gossip.
      for (RedisFixture other : servers.subList(0, i)) {
        other.command("CLUSTER", "MEET", "127.0.0.1", Integer.toString(servers.get(i).port()));
      }
    }
    for (int i = 0; i < PRIMARIES; i++) {
      IntStream slots = IntStream.range(SLOTS * i / PRIMARIES, SLOTS * (i + 1) / PRIMARIES);
      Stream<String> command =
          Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots.mapToObj(Integer::toString));
      servers.get(i).command(command.toArray(String[]::new));
    }
    awaitAll(servers, "CLUSTER", "INFO", "cluster_known_nodes:" + servers.size());
    List<RedisFixture> replicas = servers.subList(PRIMARIES, servers.size());
    for (int i = 0; i < PRIMARIES; i++) {
      String primary = servers.get(i).reply("CLUSTER", "MYID").getFirst();
      RedisFixture replica = replicas.get(i);
      awaitStart(() -> replica.command("CLUSTER", "REPLICATE", primary).equals("+OK"));
    }
    awaitWhole();
  }

  /** Returns when all servers run and agree that each primary has a replica. */
  public void awaitWhole() {
    servers.forEach(each -> awaitStart(() -> isWhole(each)));
  }

  private static boolean isWhole(RedisFixture server) {
    String replication = server.reply("INFO", "replication").getFirst();
    return (replication.contains("role:master") || replication.contains("master_link_status:up"))
        && server.reply("CLUSTER", "INFO").getFirst().contains("cluster_state:ok")
        && server.reply("CLUSTER", "SLOTS").size() % RANGE == 0;
  }

  private static void awaitAll(
      List<RedisFixture> servers, String command, String argument, String expected) {
    servers.forEach(
        each -> awaitStart(() -> each.reply(command, argument).getFirst().contains(expected)));
  }

  /** All servers, as {@code quarkus.redis.hosts} has them. */
  public String hosts() {
    return RedisServers.hosts(servers);
  }

  /** All servers. */
  public List<RedisFixture> servers() {
    return List.copyOf(servers);
  }

  /**
   * Waits for the server that has a key.
   *
   * @param lost one that is frozen, or was killed
   */
  public RedisFixture primaryOf(String key, RedisFixture... lost) {
    return await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(20))
        .ignoreExceptions()
        .until(
            () ->
                servers.stream()
                    .filter(server -> server.isRunning() && !List.of(lost).contains(server))
                    .filter(server -> server.command("TYPE", key).startsWith("+"))
                    .toList(),
            found -> !found.isEmpty())
        .getFirst();
  }

  @Override
  public void close() {
    servers.forEach(RedisFixture::close);
  }
}
