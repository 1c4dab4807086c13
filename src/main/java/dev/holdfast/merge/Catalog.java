package dev.holdfast.merge;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.budget.LogRate;
import dev.holdfast.lock.AutoLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Lists of the servers of an endpoint for each kind of caller, as this replica last read them. A
 * server that is away or slow keeps what it had, and costs a caller one wait at most. Bounded in
 * bytes: callers of the kind that came longest ago are read again. Thread-safe.
 */
final class Catalog {

  private static final Logger LOG = Logger.getLogger(Catalog.class);
  private static final LogRate FAILED = new LogRate(Duration.ofSeconds(1));

  private static final LogRate DROPPED = new LogRate(Duration.ofSeconds(1));

  /** A server need not tell of changes. */
  private static final long MAX_AGE = Duration.ofMinutes(5).toNanos();

  /** Time before another attempt to read the lists of a server that failed. */
  private static final long RETRY_INTERVAL = Duration.ofSeconds(5).toNanos();

  private static final int MAX_KINDS = 1000;

  private final MergeSettings settings;
  private final ByteBudget budget;
  private final BiConsumer<String, String> onChange;
  private final AutoLock lock = new AutoLock();

  /** By kind of caller; the one that came longest ago first. Guarded by the lock. */
  private final LinkedHashMap<String, Kind> kinds = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Creates an empty catalog.
   *
   * @param budget memory of all lists
   * @param onChange gets a kind of callers, and the server whose lists have changed for them
   */
  Catalog(MergeSettings settings, ByteBudget budget, BiConsumer<String, String> onChange) {
    this.settings = settings;
    this.budget = budget;
    this.onChange = onChange;
  }

  /** Reads the lists of servers. */
  interface Reader {
    /**
     * Reads the lists of a server. Blocks.
     *
     * @param before what it offered before; null if that is not known
     */
    Offer read(String server, @Nullable Offer before);
  }

  /** The lists for callers of one kind. */
  private static final class Kind {
    final Map<String, Server> servers = new HashMap<>();
    @Nullable Names names;

    Server server(String name) {
      return servers.computeIfAbsent(name, _ -> new Server());
    }
  }

  /** A server, as this replica knows it. Guarded by the lock. */
  private static final class Server {
    @Nullable Offer offer;
    @Nullable String problem;
    @Nullable CompletableFuture<Boolean> reading;
    long readAt;

    /** Changes of which the server has told, and those of them that its lists have. */
    long changes = 1;

    long read;

    /** True once a caller has waited for the reading as long as one does. */
    boolean isLate;

    /** True once the lists no longer count, so that a reading that ends later is dropped. */
    boolean isForgotten;

    boolean needsReading(long now) {
      long age = now - readAt;
      boolean isDue = problem == null ? isStale() || age > MAX_AGE : age > RETRY_INTERVAL;
      return reading == null && isDue;
    }

    boolean isStale() {
      return read != changes;
    }

    /** Another attempt at a server that has failed keeps nobody waiting. */
    boolean isWorthWaiting() {
      return reading != null && !isLate && problem == null && isStale();
    }

    String unavailable() {
      return problem != null ? problem : "it does not answer";
    }
  }

  /**
   * The names for a caller. Waits for lists that are not known, or have changed.
   *
   * @param kind callers of one kind may see the same
   * @param servers the names of the servers, the most important first
   */
  Names names(String kind, List<String> servers, Reader read) {
    List<CompletableFuture<Boolean>> awaited = new ArrayList<>();
    try (var _ = lock.hold()) {
      Kind known = kind(kind);
      long now = System.nanoTime();
      for (String name : servers) {
        Server server = known.server(name);
        if (server.needsReading(now)) {
          start(kind, name, server, read);
        }
        if (server.isWorthWaiting()) {
          awaited.add(Objects.requireNonNull(server.reading));
        }
      }
      if (awaited.isEmpty()) {
        return names(known, servers);
      }
    }
    await(awaited);
    try (var _ = lock.hold()) {
      Kind known = kind(kind);
      for (String name : servers) {
        Server server = known.server(name);
        server.isLate |= server.reading != null;
      }
      return names(known, servers);
    }
  }

  /** Finds a kind, or makes room for a new one. */
  private Kind kind(String name) {
    Kind known = kinds.get(name);
    if (known == null) {
      known = new Kind();
      kinds.put(name, known);
      evict(name);
    }
    return known;
  }

  private void await(List<CompletableFuture<Boolean>> readings) {
    try {
      boolean _ =
          CompletableFuture.allOf(readings.toArray(CompletableFuture[]::new))
              .handle((_, _) -> true)
              .get(settings.patience().toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException slow) {
      LOG.debugf("lists of servers are late endpoint=%s", settings.name());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Makes the names again if a server has changed. */
  private Names names(Kind kind, List<String> servers) {
    List<Names.Member> members =
        servers.stream()
            .map(name -> {
              Server server = kind.server(name);
              boolean isAway = server.problem != null || (server.isLate && server.isStale());
              return new Names.Member(name, server.offer, isAway ? server.unavailable() : null);
            })
            .toList();
    Names names = kind.names;
    if (names == null || !names.members().equals(members)) {
      names = new Names(members, settings);
      if (!names.dropped().isEmpty()
          && (kind.names == null || !kind.names.dropped().equals(names.dropped()))) {
        DROPPED.warn(
            LOG,
            "names of an endpoint dropped endpoint=%s names=%s",
            settings.name(),
            names.dropped());
      }
      kind.names = names;
    }
    return names;
  }

  private void start(String kind, String name, Server server, Reader read) {
    CompletableFuture<Boolean> reading = new CompletableFuture<>();
    server.reading = reading;
    Offer before = server.offer;
    long changes = server.changes;
    Thread _ =
        Thread.ofVirtual()
            .name("lists")
            .start(() -> {
              boolean isNews = false;
              try {
                isNews = take(kind, server, read.read(name, before), changes);
              } catch (RuntimeException | Error failure) {
                fail(name, server, failure);
              } finally {
                reading.complete(true);
              }
              if (isNews) {
                onChange.accept(kind, name);
              }
            });
  }

  /**
   * Takes what was read.
   *
   * @param changes those that the lists have
   * @return true if callers who did not wait should look again, and nobody has told them
   */
  private boolean take(String kind, Server server, Offer offer, long changes) {
    try (var _ = lock.hold()) {
      if (server.isForgotten) {
        return false;
      }
      Offer before = server.offer;
      boolean wasAway = server.isLate || server.problem != null;
      boolean differs = !offer.equals(before);
      boolean isNews = wasAway || (differs && !server.isStale());
      read(server);
      server.problem = null;
      server.read = changes;
      if (differs) {
        budget.take(offer.bytes() - (before == null ? 0 : before.bytes()));
        server.offer = offer;
        evict(kind);
      }
      return isNews;
    }
  }

  private void fail(String name, Server server, Throwable failure) {
    FAILED.warn(
        LOG,
        "lists of a server not read endpoint=%s upstream=%s reason=%s",
        settings.name(),
        name,
        failure.getMessage());
    try (var _ = lock.hold()) {
      read(server);
      server.problem = String.valueOf(failure.getMessage());
    }
  }

  private static void read(Server server) {
    server.reading = null;
    server.readAt = System.nanoTime();
    server.isLate = false;
  }

  /** Forgets callers of other kinds while the budget is exceeded. */
  private void evict(String kind) {
    Iterator<Map.Entry<String, Kind>> eldest = kinds.entrySet().iterator();
    while ((budget.isExceeded() || kinds.size() > MAX_KINDS) && eldest.hasNext()) {
      Map.Entry<String, Kind> each = eldest.next();
      if (!each.getKey().equals(kind)) {
        for (Server server : each.getValue().servers.values()) {
          budget.giveBack(server.offer == null ? 0 : server.offer.bytes());
          server.isForgotten = true;
        }
        eldest.remove();
      }
    }
  }

  /** Notes that a server has told of a change. */
  void changed(String name) {
    try (var _ = lock.hold()) {
      for (Kind kind : kinds.values()) {
        Server server = kind.servers.get(name);
        if (server != null) {
          server.changes++;
          server.problem = null;
        }
      }
    }
  }

  /** The names that callers of a kind got last; null if none came. */
  @Nullable Names known(String kind) {
    try (var _ = lock.hold()) {
      Kind known = kinds.get(kind);
      return known == null ? null : known.names;
    }
  }
}
