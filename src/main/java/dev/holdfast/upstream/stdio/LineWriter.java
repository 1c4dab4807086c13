package dev.holdfast.upstream.stdio;

import dev.holdfast.upstream.UpstreamException;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Writes lines to the stdin of a process, on a thread of its own. A write to a full pipe may block
 * for ever. Only the thread blocks; callers wait with a timeout.
 */
final class LineWriter {

  /** Upper bound of the lines that wait when {@link #writeLater} adds one. */
  private static final int MAX_WAITING = 16;

  private static final byte[] NOTHING = {};

  private final OutputStream out;
  private final BlockingQueue<Line> lines = new LinkedBlockingQueue<>();
  private volatile boolean closing;

  /** The thread has stopped taking lines from the queue. */
  private volatile boolean stopped;

  LineWriter(OutputStream out) {
    this.out = out;
  }

  /**
   * Writes lines until the writer is closed or the process reads no more, which {@code whenBroken}
   * learns.
   */
  void run(Runnable whenBroken) {
    try (out) {
      for (boolean more = true; more && !closing; ) {
        Line line = lines.take();
        write(line);
        more = !line.last;
      }
    } catch (IOException e) {
      whenBroken.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      stopped = true;
      failWaiting();
    }
  }

  private void write(Line line) throws IOException {
    if (closing) {
      line.written.completeExceptionally(new UpstreamException.SessionGone());
      return;
    }
    if (!line.claim()) {
      return;
    }
    try {
      out.write(line.json);
      out.write('\n');
      out.flush();
    } catch (IOException e) {
      line.written.completeExceptionally(
          new UpstreamException.Broken("the process did not take a whole message", e));
      throw e;
    }
    line.written.complete(null);
  }

  private void failWaiting() {
    for (Line line = lines.poll(); line != null; line = lines.poll()) {
      line.written.completeExceptionally(new UpstreamException.SessionGone());
    }
  }

  /**
   * Writes a line and waits until the process has read it.
   *
   * @param json without a line end
   * @param timeout upper bound of the wait
   * @throws UpstreamException.SessionGone if the process reads no more; it has not seen the line
   * @throws UpstreamException.Unreachable if earlier lines took too long; the process will not see
   *     this one
   * @throws UpstreamException.TimedOut if the process has read a part, and may still read the rest
   * @throws UpstreamException.Broken if the pipe broke inside the line
   */
  void write(byte[] json, Duration timeout) {
    Line line = new Line(json);
    add(line);
    try {
      line.written.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UpstreamException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      if (line.claim()) {
        lines.remove(line);
        throw new UpstreamException.Unreachable(null);
      }
      throw new UpstreamException.TimedOut("it does not read what it is sent");
    } catch (InterruptedException e) {
      throw UpstreamException.Broken.interrupted(e);
    }
  }

  /** Queues the last line: stdin is closed after it. */
  void writeLast(byte[] text) {
    add(new Line(text, true));
  }

  /** Queues a line. Drops it if too many lines wait or the process reads no more. */
  void writeLater(byte[] json) {
    if (!stopped && lines.size() < MAX_WAITING) {
      add(new Line(json));
    }
  }

  private void add(Line line) {
    lines.add(line);
    if (stopped) {
      failWaiting(); // The thread may have stopped before it saw the line.
    }
  }

  /** Closes stdin after the current write, without waiting. Drops the waiting lines. */
  void close() {
    closing = true;
    lines.add(new Line(NOTHING)); // Wakes the thread.
  }

  private static final class Line {

    private final byte[] json;
    private final CompletableFuture<@Nullable Void> written = new CompletableFuture<>();
    private final AtomicBoolean claimed = new AtomicBoolean();

    private final boolean last;

    Line(byte[] json) {
      this(json, false);
    }

    Line(byte[] json, boolean last) {
      this.json = json;
      this.last = last;
    }

    /** Returns true once: either the thread writes the line, or its caller gives up. */
    boolean claim() {
      return claimed.compareAndSet(false, true);
    }
  }
}
