package dev.holdfast.relay;

import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.RequestId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The pumps that run on this replica, each on a virtual thread of its own. Thread-safe. */
final class Pumps {

  private final Map<String, Map<StreamRef, Pump>> bySession = new ConcurrentHashMap<>();

  /** Starts a pump and forgets it when it is done. */
  void start(StreamRef stream, Pump pump) {
    bySession.compute(
        stream.session(),
        (session, pumps) -> {
          Map<StreamRef, Pump> grown = pumps == null ? new ConcurrentHashMap<>() : pumps;
          grown.put(stream, pump);
          return grown;
        });
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

  /** Cancels the stream that answers a request, if it is pumped here. */
  void cancel(String session, RequestId request) {
    for (Pump pump : of(session)) {
      if (pump.answers(request)) {
        pump.cancel(request);
      }
    }
  }

  /** Lets all pumps of a session go of their upstream. */
  void stop(String session) {
    of(session).forEach(Pump::stop);
  }

  /** Lets the pump of a stream go of its upstream. */
  void stop(StreamRef stream) {
    Pump pump = bySession.getOrDefault(stream.session(), Map.of()).get(stream);
    if (pump != null) {
      pump.stop();
    }
  }

  /** The streams that are pumped here. */
  List<StreamRef> streams() {
    return bySession.values().stream().flatMap(pumps -> pumps.keySet().stream()).toList();
  }

  boolean isEmpty() {
    return bySession.isEmpty();
  }

  /** Whether there is a pump that answers requests; others never end by themselves. */
  boolean areAnswering() {
    return bySession.values().stream()
        .anyMatch(pumps -> pumps.values().stream().anyMatch(Pump::answersRequests));
  }

  /** Does something to every pump there is. */
  void each(Consumer<Pump> action) {
    bySession.values().forEach(pumps -> pumps.values().forEach(action));
  }

  /** Whether a stream of the session is pumped here. */
  boolean isRunning(String session) {
    return bySession.containsKey(session);
  }

  private Iterable<Pump> of(String session) {
    return bySession.getOrDefault(session, Map.of()).values();
  }
}
