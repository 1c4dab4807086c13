package dev.holdfast.redis;

import io.vertx.redis.client.Response;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The newest map of a cluster. It is read at the first use, and whenever it is doubted: by one at a
 * time, on a thread of its own, and after a pause. Thread-safe.
 */
final class SlotMaps {

  private static final Logger LOG = System.getLogger(SlotMaps.class.getName());

  /** A lost server is doubted by every command until its successor is there. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final List<RedisAddress> seeds;
  private final Duration timeout;
  private final Function<RedisAddress, @Nullable Response> ask;
  private final Consumer<Collection<RedisAddress>> keepOnly;

  private final AtomicReference<@Nullable CompletableFuture<SlotMap>> reading =
      new AtomicReference<>();

  /** Written by the one that reads. */
  private volatile @Nullable SlotMap newest;

  /**
   * Knows nothing yet.
   *
   * @param ask sends {@code CLUSTER SLOTS} to a server and waits for the reply
   * @param keepOnly is told after each reading with whom connections are still needed
   */
  SlotMaps(
      List<RedisAddress> seeds,
      Duration timeout,
      Function<RedisAddress, @Nullable Response> ask,
      Consumer<Collection<RedisAddress>> keepOnly) {
    this.seeds = seeds;
    this.timeout = timeout;
    this.ask = ask;
    this.keepOnly = keepOnly;
  }

  /** The newest map, if there has ever been one. */
  @Nullable SlotMap known() {
    return newest;
  }

  /**
   * The newest map.
   *
   * @throws RedisUnavailableException when there is none, and none comes in time
   */
  SlotMap get() {
    SlotMap known = newest;
    if (known != null) {
      return known;
    }
    try {
      return refresh().get(timeout.toNanos() * 2, TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new RedisUnavailableException("interrupted before the command was sent", interrupted);
    } catch (ExecutionException | TimeoutException none) {
      throw new RedisUnavailableException("no server of the cluster answers", none);
    }
  }

  /** Has the map read again. Returns at once. */
  void doubt() {
    var _ = refresh();
  }

  /** Begins to read the map, unless somebody does or just did. */
  private CompletableFuture<SlotMap> refresh() {
    CompletableFuture<SlotMap> mine = new CompletableFuture<>();
    CompletableFuture<SlotMap> others = reading.compareAndExchange(null, mine);
    if (others != null) {
      return others;
    }
    Thread.ofVirtual().name("redis-slots").start(() -> read(mine));
    return mine;
  }

  private void read(CompletableFuture<SlotMap> result) {
    try {
      SlotMap known = newest;
      SlotMap read = known == null ? null : tryEach(known.primaries());
      if (read == null) {
        read = tryEach(SlotMap.everywhere(known, seeds));
      }
      if (read == null) {
        result.completeExceptionally(new RedisUnavailableException("no answer", null));
      } else {
        newest = read;
        result.complete(read);
      }
      SlotMap now = newest;
      keepOnly.accept(now == null ? List.of() : now.primaries());
      Thread.sleep(PAUSE);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException unforeseen) {
      LOG.log(Level.ERROR, "Reading the slots of a cluster failed", unforeseen);
      result.completeExceptionally(unforeseen);
    } finally {
      reading.set(null);
    }
  }

  /** Asks all at once, for some may be frozen; the first answer counts. */
  private @Nullable SlotMap tryEach(Collection<RedisAddress> asked) throws InterruptedException {
    List<Callable<SlotMap>> questions =
        asked.stream().<Callable<SlotMap>>map(each -> () -> read(each)).toList();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      return threads.invokeAny(questions, timeout.toNanos() * 2, TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException none) {
      LOG.log(Level.DEBUG, "No server of the cluster tells its slots", none);
      return null;
    }
  }

  private SlotMap read(RedisAddress server) {
    Response ranges = ask.apply(server);
    if (ranges == null || ranges.size() == 0) {
      throw new RedisUnavailableException("no slots", null);
    }
    return new SlotMap(ranges, server);
  }
}
