package dev.holdfast.log.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.LogKey;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * How fast the log in Redis is, with Redis on the same machine. A program and not a test: its
 * figures depend on the machine.
 */
final class LogThroughput {

  private static final int STREAMS = 50;
  private static final int EVENTS = 1_000_000;
  private static final int WARM_UP = 200_000;
  private static final Duration HOUR = Duration.ofHours(1);
  private static final byte[] PAYLOAD = "x".repeat(250).getBytes(UTF_8);

  private final Replica writing;
  private final Replica reading;

  private LogThroughput(Replica writing, Replica reading) {
    this.writing = writing;
    this.reading = reading;
  }

  /** Prints the figures. */
  public static void main(String[] args) {
    Retention retention = new Retention(HOUR, HOUR, 10_000, 1L << 40, HOUR, 1L << 40, 10_000);
    try (RedisFixture redis = RedisFixture.start();
        Replica writing = new Replica("a", redis.url(), retention);
        Replica reading = new Replica("b", redis.url(), retention)) {
      LogThroughput measured = new LogThroughput(writing, reading);
      for (int perCall : new int[] {1, 10, 100}) {
        for (int callers : new int[] {1, 10}) {
          measured.append("w" + perCall + "x" + callers, callers, perCall, WARM_UP);
          measured.append("m" + perCall + "x" + callers, callers, perCall, EVENTS);
        }
      }
      measured.read(100);
      measured.read(1000);
      measured.latency();
    }
  }

  /** Every caller of every stream appends so many events per call. */
  private void append(String name, int callers, int perCall, int events) {
    LogKey session = new LogKey(name);
    writing.log.begin(session, "");
    List<NewEvent> batch = Collections.nCopies(perCall, new NewEvent(PAYLOAD, null, false));
    int calls = events / STREAMS / callers / perCall;
    List<StreamWriter> writers = new ArrayList<>();
    long before = System.nanoTime();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int stream = 0; stream < STREAMS; stream++) {
        StreamWriter writer = writing.log.open(new StreamRef(session, "s" + stream), "1");
        writers.add(writer);
        for (int caller = 0; caller < callers; caller++) {
          executor.execute(() -> {
            for (int i = 0; i < calls; i++) {
              writer.append(batch);
            }
          });
        }
      }
    }
    double seconds = (System.nanoTime() - before) / 1e9;
    for (StreamWriter writer : writers) {
      long written = writer.append(batch).number() - perCall;
      if (written != (long) calls * callers * perCall) {
        throw new IllegalStateException("wrote only " + written);
      }
    }
    writing.log.end(session);
    System.out.printf(
        Locale.ROOT,
        "append %4d per call, %2d callers on each of %d streams: %,9.0f events/s%n",
        perCall,
        callers,
        STREAMS,
        (double) calls * STREAMS * callers * perCall / seconds);
  }

  private void read(int events) {
    StreamRef ref = new StreamRef(new LogKey("read" + events), "s");
    writing.log.begin(ref.key(), "");
    writing
        .log
        .open(ref, "1")
        .append(Collections.nCopies(events, new NewEvent(PAYLOAD, null, false)));
    double[] millis = new double[2000];
    for (int i = 0; i < millis.length; i++) {
      long before = System.nanoTime();
      ReadResult read = reading.log.read(ref, Position.START, events);
      millis[i] = (System.nanoTime() - before) / 1e6;
      if (!(read instanceof ReadResult.Events found) || found.events().size() != events) {
        throw new IllegalStateException("read " + read);
      }
    }
    printQuantiles("read of " + events + " events", millis);
  }

  /** One append at a time, alone. */
  private void latency() {
    StreamRef ref = new StreamRef(new LogKey("latency"), "s");
    writing.log.begin(ref.key(), "");
    StreamWriter writer = writing.log.open(ref, "1");
    double[] millis = new double[5000];
    for (int i = 0; i < millis.length; i++) {
      long before = System.nanoTime();
      writer.append(List.of(new NewEvent(PAYLOAD, null, false)));
      millis[i] = (System.nanoTime() - before) / 1e6;
    }
    printQuantiles("append of one event alone", millis);
  }

  private static void printQuantiles(String what, double[] millis) {
    double[] warm = Arrays.copyOfRange(millis, millis.length / 2, millis.length);
    Arrays.sort(warm);
    System.out.printf(
        Locale.ROOT,
        "%s: p50 %.3f ms, p99 %.3f ms%n",
        what,
        warm[warm.length / 2],
        warm[warm.length * 99 / 100]);
  }
}
