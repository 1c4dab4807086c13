package dev.holdfast.console.fleet;

import dev.holdfast.cluster.ReplicaList;
import dev.holdfast.lock.AutoLock;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The calls and figures of all replicas, read again after two seconds at the earliest, however many
 * operators look. Thread-safe.
 */
public final class Fleet {

  /** Most calls of all replicas that are shown. */
  static final int MOST = 1000;

  /** Time for which the report of a replica that is gone is shown. */
  private static final Duration KEPT = Duration.ofHours(1);

  private static final Duration MAX_AGE = Duration.ofSeconds(2);

  private final Supplier<Report> own;
  private final Reports reports;
  private final @Nullable StoredCalls stored;
  private final Supplier<List<ReplicaList.Replica>> replicas;
  private final InstantSource clock;
  private final AutoLock lock = new AutoLock();

  // Guarded by the lock.
  private @Nullable View last;
  private long readAt;

  /** The reports that were read last, by their bytes, so that the same are not parsed again. */
  private Map<String, Parsed> parsed = new HashMap<>();

  /** The calls that were joined last, by session and stream. */
  private Map<String, Call> joined = Map.of();

  private record Parsed(byte[] bytes, Report report) {}

  /**
   * Calls and figures of all replicas.
   *
   * @param calls by key, those that began last first
   * @param reports of all replicas, also of those that are gone
   * @param live those of the replicas that are there
   * @param counts sum of their numbers
   * @param replicas empty without a shared store
   */
  public record View(
      Map<String, Call> calls,
      List<Report> reports,
      List<Report> live,
      JsonObject counts,
      List<ReplicaList.Replica> replicas) {

    /** Figures of a server, of all replicas together. */
    public JsonObject server(String name) {
      Map<String, JsonObject> known = new LinkedHashMap<>();
      live.forEach(report -> known.put(report.replica(), report.servers()));
      return ServerFigures.sum(known, name);
    }

    /** The clients that the replicas have met, each as one of them has met it. */
    public Stream<JsonObject> clients() {
      return live.stream().flatMap(report -> report.clients().stream()).map(JsonObject.class::cast);
    }
  }

  /**
   * Creates the fleet.
   *
   * @param own makes the report of this replica
   * @param stored null if the store has no calls that replicas have forgotten
   * @param replicas lists the replicas; empty without a shared store
   */
  public Fleet(
      Supplier<Report> own,
      Reports reports,
      @Nullable StoredCalls stored,
      Supplier<List<ReplicaList.Replica>> replicas,
      InstantSource clock) {
    this.clock = clock;
    this.own = own;
    this.reports = reports;
    this.stored = stored;
    this.replicas = replicas;
  }

  /**
   * Returns what the replicas know.
   *
   * @throws dev.holdfast.redis.RedisException when Redis does not answer
   */
  public View view() {
    try (var _ = lock.hold()) {
      View known = last;
      if (known == null || System.nanoTime() - readAt >= MAX_AGE.toNanos()) {
        known = read();
        last = known;
        readAt = System.nanoTime();
      }
      return known;
    }
  }

  /** Finds a call by its key. Throws as {@link #view} does. */
  public Optional<Call> find(String key) {
    return Optional.ofNullable(view().calls().get(key));
  }

  /** Returns the figures of the last hour, of all replicas together and of each. */
  public JsonObject figures() {
    View view = view();
    long now = clock.millis();
    JsonObject each = new JsonObject();
    if (view.reports().size() > 1) {
      view.reports()
          .forEach(report -> each.put(report.replica(), Figures.of(List.of(report), now)));
    }
    return new JsonObject().put("all", Figures.of(view.reports(), now)).put("replicas", each);
  }

  private View read() {
    List<Report> all = new ArrayList<>();
    all.add(own.get());
    String self = all.getFirst().replica();
    List<Report> others = others(self);
    all.addAll(others);
    List<ReplicaList.Replica> listed = replicas.get();
    Set<String> alive =
        listed.stream()
            .filter(ReplicaList.Replica::alive)
            .map(each -> each.id().value())
            .collect(Collectors.toSet());
    Map<String, List<Call.Part>> parts = new LinkedHashMap<>();
    for (Report report : all) {
      boolean isAlive = report.replica().equals(self) || alive.contains(report.replica());
      for (Object each : report.calls()) {
        JsonObject call = (JsonObject) each;
        parts
            .computeIfAbsent(
                call.getString("session") + "/" + call.getString("stream"), _ -> new ArrayList<>())
            .add(new Call.Part(report.replica(), isAlive, call));
      }
    }
    Map<String, Call> next = new HashMap<>();
    parts.forEach((id, found) -> {
      Call known = joined.get(id);
      next.put(id, known != null && known.isOf(found) ? known : new Call(found));
    });
    joined = next;
    Map<String, Call> calls = new LinkedHashMap<>();
    next.values().stream()
        // Other requests have connections, too.
        .filter(call -> !call.tool().isEmpty())
        .sorted(Comparator.comparingLong(Call::started).reversed())
        .limit(MOST)
        .forEach(call -> calls.put(call.key(), call));
    if (stored != null) {
      stored.look(alive, MOST - calls.size(), stream -> isComplete(calls.get(Call.key(stream))));
    }
    List<Report> live =
        all.stream()
            .filter(report -> report.replica().equals(self) || alive.contains(report.replica()))
            .toList();
    JsonObject counts = Counts.sum(live.stream().map(Report::counts).toList());
    return new View(calls, all, live, counts, listed);
  }

  private static boolean isComplete(@Nullable Call call) {
    return call != null && !call.state().isOpen();
  }

  private List<Report> others(String self) {
    Map<String, Parsed> next = new HashMap<>();
    for (byte[] bytes : reports.latest()) {
      Parsed before =
          parsed.values().stream()
              .filter(each -> Arrays.equals(each.bytes(), bytes))
              .findFirst()
              .orElse(null);
      if (before != null) {
        next.put(before.report().replica(), before);
      } else {
        Report.read(bytes)
            .ifPresent(report -> next.put(report.replica(), new Parsed(bytes, report)));
      }
    }
    long old = clock.instant().minus(KEPT).toEpochMilli();
    for (Parsed each : List.copyOf(next.values())) {
      if (each.report().millis() < old) {
        Parsed _ = next.remove(each.report().replica());
        reports.forget(each.report().replica());
      }
    }
    parsed = next;
    return next.values().stream()
        .map(Parsed::report)
        .filter(report -> !report.replica().equals(self))
        .toList();
  }
}
