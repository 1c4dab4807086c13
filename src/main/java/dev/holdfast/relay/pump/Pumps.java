package dev.holdfast.relay.pump;

import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.upstream.MessageSource;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The pumps that run on this replica, each on a virtual thread of its own. Thread-safe. */
public final class Pumps {

  /** Far longer than it takes from the record of an owner to the start of the pump. */
  private static final long EARLY_FOR = Duration.ofMinutes(1).toNanos();

  private final Duration hold;
  private final RelayListener listener;
  private final Map<String, Map<StreamRef, Pump>> bySession = new ConcurrentHashMap<>();
  private final Map<StreamRef, Early> early = new ConcurrentHashMap<>();

  /**
   * Cancellations that came before the pump: the stream is being opened or taken over here.
   *
   * @param since by {@link System#nanoTime()}
   */
  private record Early(Set<RequestId> requests, long since) {}

  /**
   * Begins with none.
   *
   * @param hold how long events wait for a store that is away
   * @param listener is told what happens
   */
  public Pumps(Duration hold, RelayListener listener) {
    this.hold = hold;
    this.listener = listener;
  }

  /**
   * Starts a pump and forgets it when it is done.
   *
   * @param upstream asks the upstream and returns its answer
   * @param requests the requests that the stream answers; none for a standalone stream
   * @param hearCancellations cancels what clients have cancelled so far, wherever they have
   */
  public Pump start(
      StreamWriter writer,
      Supplier<MessageSource> upstream,
      Pump.Origin origin,
      List<RequestId> requests,
      Runnable hearCancellations) {
    Pump pump = new Pump(writer, upstream, origin, requests, hearCancellations, hold, listener);
    start(writer.stream(), pump);
    return pump;
  }

  private void start(StreamRef stream, Pump pump) {
    bySession.compute(
        stream.session(),
        (session, pumps) -> {
          Map<StreamRef, Pump> grown = pumps == null ? new ConcurrentHashMap<>() : pumps;
          grown.put(stream, pump);
          return grown;
        });
    cancelEarly(stream, pump);
    Thread.ofVirtual()
        .name("pump " + stream)
        .start(() -> {
          try {
            pump.run();
          } finally {
            remove(stream, pump);
          }
        });
  }

  /** A stream that was lost and taken back may have a newer pump by now, which stays. */
  private void remove(StreamRef stream, Pump pump) {
    bySession.computeIfPresent(
        stream.session(),
        (session, pumps) -> {
          pumps.remove(stream, pump);
          return pumps.isEmpty() ? null : pumps;
        });
  }

  /**
   * Cancels the stream that answers a request, if it is pumped here.
   *
   * @return whether it is
   */
  public boolean cancel(String session, RequestId request) {
    boolean found = false;
    for (Pump pump : of(session)) {
      if (pump.answers(request)) {
        pump.cancel(request);
        found = true;
      }
    }
    return found;
  }

  /** Cancels a request of a stream that is owned here, even if its pump is only about to start. */
  public void cancel(StreamRef stream, RequestId request) {
    // First this, then the look for a pump; one that starts does it the other way round.
    early.compute(
        stream,
        (ref, before) -> {
          Set<RequestId> requests = before == null ? new HashSet<>() : before.requests();
          requests.add(request);
          return new Early(requests, System.nanoTime());
        });
    Pump pump = find(stream);
    if (pump != null) {
      cancelEarly(stream, pump);
    }
  }

  private void cancelEarly(StreamRef stream, Pump pump) {
    Early before = early.remove(stream);
    if (before != null) {
      before.requests().stream().filter(pump::answers).forEach(pump::cancel);
    }
  }

  /** Forgets cancellations for which no pump came. */
  public void sweep() {
    early.values().removeIf(each -> System.nanoTime() - each.since() > EARLY_FOR);
  }

  /** Lets all pumps of a session go of their upstream. */
  public void stop(String session) {
    of(session).forEach(Pump::stop);
  }

  /** Lets the pump of a stream go of its upstream. */
  public void stop(StreamRef stream) {
    Pump pump = find(stream);
    if (pump != null) {
      pump.stop();
    }
  }

  /** The streams that are pumped here. */
  public List<StreamRef> streams() {
    return bySession.values().stream().flatMap(pumps -> pumps.keySet().stream()).toList();
  }

  public boolean isEmpty() {
    return bySession.isEmpty();
  }

  /** Whether there is a pump that answers requests; others never end by themselves. */
  public boolean areAnswering() {
    return bySession.values().stream()
        .anyMatch(pumps -> pumps.values().stream().anyMatch(Pump::answersRequests));
  }

  /** Does something to every pump there is. */
  public void each(Consumer<Pump> action) {
    bySession.values().forEach(pumps -> pumps.values().forEach(action));
  }

  /** The sessions of which a stream is pumped here. */
  public List<String> sessions() {
    return List.copyOf(bySession.keySet());
  }

  /** Whether a stream of the session is pumped here. */
  public boolean isRunning(String session) {
    return bySession.containsKey(session);
  }

  private @Nullable Pump find(StreamRef stream) {
    return bySession.getOrDefault(stream.session(), Map.of()).get(stream);
  }

  private Iterable<Pump> of(String session) {
    return bySession.getOrDefault(session, Map.of()).values();
  }
}
