package dev.holdfast.record;

import dev.holdfast.lock.AutoLock;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;

/**
 * Writes tapes to one directory. Messages wait in a queue of bounded size for the thread that
 * writes, so a slow disk never delays the traffic. Messages beyond the bound are missing on their
 * tape, which says so. A tape ends at a failed write; later tapes are tried again. Thread-safe.
 */
public final class Recorder implements AutoCloseable {

  private static final Logger LOG = Logger.getLogger(Recorder.class);

  private static final long MAX_QUEUE_BYTES = 8 << 20;

  /** Cost of a message in the queue besides its bytes. */
  private static final int LINE_BYTES = 256;

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

  private final TapeDirectory directory;
  private final InstantSource clock;
  private final long queueBytes;
  private final Thread writer;
  private final AutoLock lock = new AutoLock();
  private final Condition changed = lock.newCondition();

  // Guarded by the lock.
  private List<Line> queue = new ArrayList<>();
  private long queuedBytes; // including the bytes that are being written
  private long writingBytes;
  private Map<OpenTape, Long> missing = new LinkedHashMap<>();
  private boolean closed;

  /**
   * Starts the thread that writes.
   *
   * @param directory where the tapes are written
   */
  public Recorder(TapeDirectory directory, InstantSource clock) {
    this(directory, clock, Math.min(MAX_QUEUE_BYTES, Runtime.getRuntime().maxMemory() / 32));
  }

  Recorder(TapeDirectory directory, InstantSource clock, long queueBytes) {
    this.directory = directory;
    this.clock = () -> clock.instant().truncatedTo(ChronoUnit.MILLIS);
    this.queueBytes = queueBytes;
    // A platform thread: a write to a file blocks the carrier of a virtual one.
    writer = Thread.ofPlatform().daemon().name("holdfast-recorder").start(this::writeAll);
  }

  /** The time in milliseconds. */
  Instant now() {
    return clock.instant();
  }

  /**
   * Queues a line.
   *
   * @param bytes size of its message
   */
  void add(OpenTape tape, int bytes, Supplier<byte[]> line) {
    if (tape.stopped) {
      return;
    }
    long size = (long) bytes + LINE_BYTES;
    try (var _ = lock.hold()) {
      if (closed) {
        return;
      }
      if (queuedBytes > 0 && queuedBytes + size > queueBytes) {
        missing.merge(tape, 1L, Long::sum);
      } else {
        Long before = missing.remove(tape);
        if (before != null) {
          Instant time = now();
          queue.add(new Line(tape, () -> TapeLine.missing(time, before)));
        }
        queue.add(new Line(tape, line));
        queuedBytes += size;
      }
      changed.signal();
    }
  }

  private record Line(OpenTape tape, Supplier<byte[]> line) {}

  private void writeAll() {
    for (List<Line> lines = take(); !lines.isEmpty(); lines = take()) {
      lines.stream()
          .collect(
              Collectors.groupingBy(
                  Line::tape,
                  LinkedHashMap::new,
                  Collectors.mapping(Line::line, Collectors.toList())))
          .forEach(this::write);
    }
  }

  /** Waits for lines and takes all. Empty after the recorder was closed. */
  private List<Line> take() {
    try (var _ = lock.hold()) {
      queuedBytes -= writingBytes;
      writingBytes = 0;
      while (queue.isEmpty() && missing.isEmpty() && !closed) {
        changed.awaitUninterruptibly();
      }
      List<Line> taken = queue;
      queue = new ArrayList<>();
      Instant time = now();
      missing.forEach(
          (tape, messages) -> taken.add(new Line(tape, () -> TapeLine.missing(time, messages))));
      missing = new LinkedHashMap<>();
      writingBytes = queuedBytes;
      return taken;
    }
  }

  private void write(OpenTape tape, List<Supplier<byte[]>> lines) {
    if (tape.stopped) {
      return; // These lines were queued before.
    }
    try {
      directory.append(tape, lines, now());
    } catch (IOException | RuntimeException failure) {
      tape.stopped = true;
      LOG.warnf("tape stopped, its session continues tape=%s reason=%s", tape.name, failure);
    }
  }

  /** Writes what waits, within a limit of time. Later messages are ignored. */
  @Override
  public void close() {
    try (var _ = lock.hold()) {
      closed = true;
      changed.signal();
    }
    try {
      if (!writer.join(CLOSE_TIMEOUT)) {
        LOG.warn("tapes lose their last messages: the disk is too slow");
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
