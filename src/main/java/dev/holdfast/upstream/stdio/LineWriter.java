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
 * Writes lines to the stdin of a process. A thread of its own does it, since nothing ends a write
 * to a pipe that nobody reads: whoever wants a line written waits for as long as he likes, and the
 * thread for as long as it takes.
 */
final class LineWriter implements Runnable {

  /** How many lines may wait that nobody waits for. */
  private static final int MAX_UNATTENDED = 16;

  private static final byte[] NOTHING = {};

  private final OutputStream out;
  private final Runnable whenBroken;
  private final BlockingQueue<Line> lines = new LinkedBlockingQueue<>();
  private volatile boolean closing;

  /** Nothing is written any more, and nobody takes a line from the queue. */
  private volatile boolean over;

  /**
   * @param whenBroken told, by the writing thread, that the process takes no more
   */
  LineWriter(OutputStream out, Runnable whenBroken) {
    this.out = out;
    this.whenBroken = whenBroken;
  }

  /** Writes until it is closed, or the process takes no more. */
  @Override
  public void run() {
    try (out) {
      while (!closing) {
        write(lines.take());
      }
    } catch (IOException e) {
      whenBroken.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      over = true;
      failRest();
    }
  }

  private void write(Line line) throws IOException {
    if (closing) {
      line.written.completeExceptionally(new UpstreamException.SessionGone());
      return;
    }
    if (!line.begin()) {
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

  private void failRest() {
    for (Line line = lines.poll(); line != null; line = lines.poll()) {
      line.written.completeExceptionally(new UpstreamException.SessionGone());
    }
  }

  /**
   * Writes a line.
   *
   * @param json without an end
   * @param most how long to wait for the process to read it
   * @throws UpstreamException.SessionGone if the process takes no more; it has not seen the line
   * @throws UpstreamException.Unreachable if the process was busy with earlier lines for so long;
   *     it will not see this one
   * @throws UpstreamException.TimedOut if it has seen some of it, and may yet read the rest
   * @throws UpstreamException.Broken if it broke in the middle
   */
  void write(byte[] json, Duration most) {
    Line line = new Line(json);
    add(line);
    try {
      line.written.get(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UpstreamException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      giveUp(line);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the waiting thread was interrupted", e);
    }
  }

  private void giveUp(Line line) {
    if (line.begin()) {
      lines.remove(line);
      throw new UpstreamException.Unreachable(null);
    }
    throw new UpstreamException.TimedOut("it does not read what it is sent");
  }

  /** Writes a line when its turn comes. Drops it if the process is much behind, or gone. */
  void writeLater(byte[] json) {
    if (!over && lines.size() < MAX_UNATTENDED) {
      add(new Line(json));
    }
  }

  private void add(Line line) {
    lines.add(line);
    if (over) {
      // The thread may have been gone before the line was there.
      failRest();
    }
  }

  /**
   * Closes stdin, behind what is just being written. Lines that wait are not written any more. Does
   * not wait.
   */
  void close() {
    closing = true;
    lines.add(new Line(NOTHING)); // Wakes the thread.
  }

  /** A line and what became of it. */
  private static final class Line {

    private final byte[] json;
    private final CompletableFuture<@Nullable Void> written = new CompletableFuture<>();
    private final AtomicBoolean begun = new AtomicBoolean();

    Line(byte[] json) {
      this.json = json;
    }

    /** Whether it is the caller, and nobody before him, who decides what becomes of the line. */
    boolean begin() {
      return begun.compareAndSet(false, true);
    }
  }
}
