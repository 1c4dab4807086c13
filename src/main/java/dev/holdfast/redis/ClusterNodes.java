package dev.holdfast.redis;

import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The servers of one cluster: a client for each, made at first use, and the newest slot map. The
 * map is read at first use and refreshed after failures, by one thread at a time and with a pause
 * in between. Thread-safe.
 */
final class ClusterNodes {

  private static final Logger LOG = Logger.getLogger(ClusterNodes.class);

  /** Every command to a lost server requests a refresh until a replica is promoted. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final Function<ServerAddress, Redis> vertxClients;
  private final List<ServerAddress> seeds;
  private final Duration timeout;
  private final RedisClient.Listener listener;
  private final Map<ServerAddress, ServerClient> clients = new ConcurrentHashMap<>();

  /** The refresh under way, until its pause is over. */
  private final AtomicReference<@Nullable CompletableFuture<SlotMap>> refresh =
      new AtomicReference<>();

  /** Written by the refreshing thread. */
  private volatile @Nullable SlotMap newest;

  private volatile boolean closed;

  /**
   * Connects to nothing yet.
   *
   * @param seeds configured servers, used when no known server answers
   * @param timeout time limit for one command, and half of the time limit for reading the slot map
   */
  ClusterNodes(
      Function<ServerAddress, Redis> vertxClients,
      List<ServerAddress> seeds,
      Duration timeout,
      RedisClient.Listener listener) {
    this.vertxClients = vertxClients;
    this.seeds = seeds;
    this.timeout = timeout;
    this.listener = listener;
  }

  ServerClient client(ServerAddress address) {
    ServerClient client =
        clients.computeIfAbsent(
            address,
            to -> new ServerClient(() -> vertxClients.apply(to), false, timeout, listener));
    if (closed) {
      // close() may have missed a client that was made meanwhile.
      client.close();
    }
    return client;
  }

  /** A Vert.x client of any server. */
  Redis newVertxClient() {
    return vertxClients.apply(slotMapNow().map(this::anyPrimary).orElseGet(() -> random(seeds)));
  }

  /** A random primary, if possible one with a connection. */
  ServerAddress anyPrimary(SlotMap map) {
    List<ServerAddress> primaries = List.copyOf(map.primaries());
    List<ServerAddress> connected =
        primaries.stream().filter(primary -> client(primary).isConnected()).toList();
    return random(connected.isEmpty() ? primaries : connected);
  }

  private static ServerAddress random(List<ServerAddress> choice) {
    return choice.get(ThreadLocalRandom.current().nextInt(choice.size()));
  }

  private void closeAllBut(Set<ServerAddress> addresses) {
    clients.forEach((address, client) -> {
      if (!addresses.contains(address) && clients.remove(address, client)) {
        client.close();
      }
    });
  }

  void close() {
    closed = true;
    closeAllBut(Set.of());
  }

  /** The newest slot map, without waiting for one; empty before the first reading. */
  Optional<SlotMap> slotMapNow() {
    return Optional.ofNullable(newest);
  }

  /**
   * The newest slot map. Waits for the first reading.
   *
   * @throws RedisException.Unavailable when no server answers in time
   */
  SlotMap slotMap() {
    SlotMap map = newest;
    if (map != null) {
      return map;
    }
    try {
      return refresh().get(timeout.toNanos() * 2, TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new RedisException.Unavailable("interrupted before the command was sent", interrupted);
    } catch (ExecutionException | TimeoutException none) {
      throw new RedisException.Unavailable("no server of the cluster answers", none);
    }
  }

  /** Begins to read the slot map again. Returns at once. */
  void refreshSlotMapLater() {
    var _ = refresh();
  }

  /** Begins a refresh. Returns the previous one instead until its pause is over. */
  private CompletableFuture<SlotMap> refresh() {
    CompletableFuture<SlotMap> mine = new CompletableFuture<>();
    CompletableFuture<SlotMap> others = refresh.compareAndExchange(null, mine);
    if (others != null) {
      return others;
    }
    Thread.ofVirtual().name("redis-slots").start(() -> refresh(mine));
    return mine;
  }

  private void refresh(CompletableFuture<SlotMap> result) {
    try {
      SlotMap before = newest;
      SlotMap map = before == null ? null : firstAnswer(before.primaries());
      if (map == null) {
        map = firstAnswer(before == null ? seeds : before.allServersAnd(seeds));
      }
      if (map == null) {
        result.completeExceptionally(new RedisException.Unavailable("no answer", null));
      } else {
        newest = map;
        result.complete(map);
      }
      closeAllBut(slotMapNow().map(SlotMap::primaries).orElse(Set.of()));
      Thread.sleep(PAUSE);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException unexpected) {
      LOG.error("reading the slots of the cluster failed unexpectedly", unexpected);
      result.completeExceptionally(unexpected);
    } finally {
      refresh.set(null);
    }
  }

  /** Queries all servers at once, since some may be frozen. */
  private @Nullable SlotMap firstAnswer(Collection<ServerAddress> servers)
      throws InterruptedException {
    List<Callable<SlotMap>> reads =
        servers.stream().<Callable<SlotMap>>map(each -> () -> read(each)).toList();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      return threads.invokeAny(reads, timeout.toNanos() * 2, TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException none) {
      LOG.debug("No server of the cluster reports its slots", none);
      return null;
    }
  }

  private SlotMap read(ServerAddress server) {
    Response ranges = client(server).send(Request.cmd(Command.CLUSTER, "SLOTS"));
    if (ranges == null || ranges.size() == 0) {
      throw new RedisException.Unavailable("no slots", null);
    }
    return new SlotMap(ranges, server);
  }
}
