package dev.holdfast.relay.pump;

import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.TraceListener;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The pumps of this replica. Thread-safe. */
public final class Pumps {

  /** Far longer than it takes from the record of an owner to the start of the pump. */
  private static final long EARLY_CANCELLATION_TTL = Duration.ofMinutes(1).toNanos();

  private final Pump.Context context;
  private final Map<LogKey, Map<StreamRef, Pump>> bySession = new ConcurrentHashMap<>();
  private final Map<StreamRef, EarlyCancellation> early = new ConcurrentHashMap<>();

  /** Requests that were cancelled before their pump started; since when, by the nano time. */
  private record EarlyCancellation(Set<RequestId> requests, boolean byOperator, long since) {}

  /**
   * Creates a registry.
   *
   * @param hold how long events wait for a store that is away
   * @param traces null while traces are off
   */
  public Pumps(Duration hold, RelayListener listener, @Nullable TraceListener traces) {
    this.context = new Pump.Context(hold, listener, traces, this::remove);
  }

  /**
   * Starts a pump, and removes it when it is done.
   *
   * @param upstreamName the configured name of the upstream
   * @param upstream sends the request and returns the answer
   * @param requests the requests that the stream answers; empty for a standalone stream
   * @param collectCancellations applies the cancellations that other replicas received
   */
  public Pump start(
      StreamWriter writer,
      String upstreamName,
      UpstreamRequest upstream,
      Pump.Origin origin,
      List<RequestId> requests,
      Runnable collectCancellations) {
    StreamRef stream = writer.stream();
    Pump pump =
        new Pump(context, writer, upstreamName, upstream, origin, requests, collectCancellations);
    bySession.compute(
        stream.key(),
        (_, pumps) -> {
          Map<StreamRef, Pump> grown = pumps == null ? new ConcurrentHashMap<>(1) : pumps;
          grown.put(stream, pump);
          return grown;
        });
    applyEarlyCancellations(stream, pump);
    pump.start();
    return pump;
  }

  /** Removes the pump, but not a newer pump of a stream that was lost and taken back. */
  private void remove(Pump pump) {
    StreamRef stream = pump.stream();
    bySession.computeIfPresent(
        stream.key(), (_, pumps) -> pumps.remove(stream, pump) && pumps.isEmpty() ? null : pumps);
  }

  /** Cancels a request of a session. Returns whether a pump of this replica answers it. */
  public boolean cancel(LogKey session, RequestId request) {
    boolean found = false;
    for (Pump pump : of(session)) {
      if (pump.answers(request)) {
        pump.cancel(request, false);
        found = true;
      }
    }
    return found;
  }

  /**
   * Cancels a request of a stream that this replica owns, even if its pump starts later.
   *
   * @param byOperator whether the client waits for an answer
   */
  public void cancel(StreamRef stream, RequestId request, boolean byOperator) {
    // Records before it looks for the pump; a pump that starts does it in the opposite order.
    early.compute(
        stream,
        (_, before) -> {
          Set<RequestId> requests = before == null ? new HashSet<>() : before.requests();
          requests.add(request);
          boolean isOperator = byOperator || (before != null && before.byOperator());
          return new EarlyCancellation(requests, isOperator, System.nanoTime());
        });
    Pump pump = find(stream);
    if (pump != null) {
      applyEarlyCancellations(stream, pump);
    }
  }

  private void applyEarlyCancellations(StreamRef stream, Pump pump) {
    EarlyCancellation before = early.remove(stream);
    if (before != null) {
      before.requests().stream()
          .filter(pump::answers)
          .forEach(id -> pump.cancel(id, before.byOperator()));
    }
  }

  /** Removes cancellations whose pump never started. */
  public void sweep() {
    long now = System.nanoTime();
    early.values().removeIf(each -> now - each.since() > EARLY_CANCELLATION_TTL);
  }

  /** Stops all pumps of a session. */
  public void stop(LogKey session) {
    of(session).forEach(Pump::stop);
  }

  /** Stops the pump of a stream. */
  public void stop(StreamRef stream) {
    Pump pump = find(stream);
    if (pump != null) {
      pump.stop();
    }
  }

  /**
   * Stops the pumps whose streams other replicas took over, because they considered this replica
   * lost.
   *
   * @throws LogException.StoreUnavailable when the log is away; it refuses what such a pump writes
   *     in any case
   */
  public void stopLost(SharedLog log, Predicate<LogKey> which) {
    List<StreamRef> looked = streams().stream().filter(each -> which.test(each.key())).toList();
    log.findTakenOver(looked).forEach(this::stop);
  }

  /** The streams that have a pump. */
  public List<StreamRef> streams() {
    return bySession.values().stream().flatMap(pumps -> pumps.keySet().stream()).toList();
  }

  /** Returns true if there are no pumps. */
  public boolean isEmpty() {
    return bySession.isEmpty();
  }

  /** Returns true if a pump answers requests; other pumps never end by themselves. */
  public boolean areAnswering() {
    return bySession.values().stream()
        .anyMatch(pumps -> pumps.values().stream().anyMatch(Pump::answersRequests));
  }

  /** Returns true if a pump answers requests of a session. */
  public boolean areAnswering(LogKey session) {
    return of(session).stream().anyMatch(Pump::answersRequests);
  }

  /** Applies an action to every pump. */
  public void forEach(Consumer<Pump> action) {
    bySession.values().forEach(pumps -> pumps.values().forEach(action));
  }

  /** The sessions that have a pump. */
  public List<LogKey> sessions() {
    return List.copyOf(bySession.keySet());
  }

  /** Returns true if a session has a pump. */
  public boolean isRunning(LogKey session) {
    return bySession.containsKey(session);
  }

  private @Nullable Pump find(StreamRef stream) {
    return bySession.getOrDefault(stream.key(), Map.of()).get(stream);
  }

  private Collection<Pump> of(LogKey session) {
    return bySession.getOrDefault(session, Map.of()).values();
  }
}
