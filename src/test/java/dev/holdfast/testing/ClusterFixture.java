package dev.holdfast.testing;

import static dev.holdfast.testing.RedisServers.awaitStart;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A Redis Cluster, of three primaries unless it is asked for another number. Each has a replica,
 * which takes over within seconds, or none; then it has what it had when it comes back.
 */
public final class ClusterFixture implements AutoCloseable {

  private static final int SLOTS = 16_384;

  private final int primaries;

  /** What is told of a range: first and last slot; address, port and id of each server. */
  private final int range;

  /** Servers of a cluster speak to each other on a port that is higher by that much. */
  private static final int BUS = 10_000;

  private final List<RedisFixture> servers = new ArrayList<>();

  private ClusterFixture(int primaries, int serversOfARange, String appendOnly) {
    this.primaries = primaries;
    range = 2 + serversOfARange * 3;
    try {
      for (int i = 0; i < serversOfARange * primaries; i++) {
        servers.add(startServer(appendOnly));
      }
      join();
    } catch (RuntimeException failure) {
      close();
      throw failure;
    }
  }

  /** Starts all, and returns when all know each other and who has what. */
  public static ClusterFixture start() {
    return new ClusterFixture(3, 2, "no");
  }

  /** Starts only primaries, and returns when all know each other and who has what. */
  public static ClusterFixture startWithoutReplicas() {
    return new ClusterFixture(3, 1, "yes");
  }

  /** Starts so many primaries, which write nothing to disk. */
  public static ClusterFixture ofPrimaries(int primaries) {
    return new ClusterFixture(primaries, 1, "no");
  }

  private static RedisFixture startServer(String appendOnly) {
    return RedisFixture.start(
        Ports.freeWith(BUS),
        Stream.of(
                "--appendonly " + appendOnly,
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
    for (int i = 0; i < primaries; i++) {
      IntStream slots = IntStream.range(SLOTS * i / primaries, SLOTS * (i + 1) / primaries);
      Stream<String> command =
          Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots.mapToObj(Integer::toString));
      servers.get(i).command(command.toArray(String[]::new));
    }
    awaitAll(servers, "CLUSTER", "INFO", "cluster_known_nodes:" + servers.size());
    List<RedisFixture> replicas = servers.subList(primaries, servers.size());
    for (int i = 0; i < replicas.size(); i++) {
      String primary = id(servers.get(i));
      RedisFixture replica = replicas.get(i);
      awaitStart(() -> replica.command("CLUSTER", "REPLICATE", primary).equals("+OK"));
    }
    awaitWhole();
  }

  /** Returns when all servers run and agree on who has what. */
  public void awaitWhole() {
    servers.forEach(each -> awaitStart(() -> isWhole(each)));
  }

  private boolean isWhole(RedisFixture server) {
    String replication = server.reply("INFO", "replication").getFirst();
    return (replication.contains("role:master") || replication.contains("master_link_status:up"))
        && server.reply("CLUSTER", "INFO").getFirst().contains("cluster_state:ok")
        && server.reply("CLUSTER", "SLOTS").size() % range == 0;
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

  /** Moves the slot of a key to the next server, one key after the other, while others use it. */
  public void move(String key) {
    RedisFixture from = primaryOf(key);
    RedisFixture to = servers.get((servers.indexOf(from) + 1) % primaries);
    String slot = from.reply("CLUSTER", "KEYSLOT", key).getFirst();
    to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", id(from));
    from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", id(to));
    for (List<String> keys = keys(from, slot); !keys.isEmpty(); keys = keys(from, slot)) {
      String port = Integer.toString(to.port());
      String moved = from.command("MIGRATE", "127.0.0.1", port, keys.getFirst(), "0", "5000");
      if (!moved.equals("+OK") && !moved.equals("+NOKEY")) {
        throw new IllegalStateException(moved);
      }
    }
    // First the new one, which must know of it before any other does.
    for (RedisFixture each : List.of(to, from)) {
      each.command("CLUSTER", "SETSLOT", slot, "NODE", id(to));
    }
  }

  private static String id(RedisFixture server) {
    return server.reply("CLUSTER", "MYID").getFirst();
  }

  private static List<String> keys(RedisFixture server, String slot) {
    return server.reply("CLUSTER", "GETKEYSINSLOT", slot, "1");
  }

  @Override
  public void close() {
    servers.forEach(RedisFixture::close);
  }
}
