package dev.holdfast.relay;

import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.RequestId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

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
            remove(stream);
          }
        });
  }

  private void remove(StreamRef stream) {
    bySession.computeIfPresent(
        stream.session(),
        (session, pumps) -> {
          pumps.remove(stream);
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

  private Iterable<Pump> of(String session) {
    return bySession.getOrDefault(session, Map.of()).values();
  }
}
