package dev.holdfast.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.wiring.FleetReplica;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;

/** Latency of appends of living replicas while something else happens. */
final class AppendLatency implements AutoCloseable {

  private static final Duration INTERVAL = Duration.ofMillis(20);
  private static final List<NewEvent> EVENT =
      List.of(new NewEvent("{}".getBytes(UTF_8), null, false));

  private final List<Thread> writers = new ArrayList<>();
  private final List<Double> millis = Collections.synchronizedList(new ArrayList<>());

  AppendLatency(List<FleetReplica> replicas) {
    for (FleetReplica replica : replicas) {
      LogKey session = new LogKey("latency-" + UUID.randomUUID());
      replica.log().begin(session, "");
      StreamWriter writer = replica.log().openUnfollowed(new StreamRef(session, "a"), null);
      writers.add(Thread.ofVirtual().start(() -> append(writer)));
    }
  }

  private void append(StreamWriter writer) {
    try {
      while (true) {
        Thread.sleep(INTERVAL);
        long begin = System.nanoTime();
        while (!appended(writer)) {
          Thread.sleep(1);
        }
        millis.add((System.nanoTime() - begin) / 1e6);
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean appended(StreamWriter writer) {
    try {
      writer.append(EVENT);
      return true;
    } catch (LogException.StoreUnavailable | LogException.OutcomeUnknown away) {
      return false;
    }
  }

  /** The latency that a part of the appends did not exceed, in ms. */
  double quantile(double part) {
    List<Double> sorted = new ArrayList<>(millis).stream().sorted().toList();
    return sorted.isEmpty() ? 0 : sorted.get((int) Math.ceil(part * (sorted.size() - 1)));
  }

  @Override
  public void close() {
    writers.forEach(Thread::interrupt);
  }
}
