package dev.holdfast.upstream.stdio;

import dev.holdfast.upstream.UpstreamException;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Writes lines to the stdin of a process, on a thread of its own. A write to a full pipe may block
 * for ever. Only the thread blocks; callers wait with a timeout.
 */
final class LineWriter {

  /** Upper bound of the lines that wait when {@link #writeLater} adds one. */
  private static final int MAX_WAITING = 16;

  private final OutputStream out;
  private final BlockingQueue<FutureTask<Boolean>> lines = new LinkedBlockingQueue<>();

  /** The thread shall close stdin after the current write. */
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
      while (!closing) {
        FutureTask<Boolean> line = lines.take();
        if (closing) {
          line.cancel(false);
        } else {
          line.run();
        }
        if (line.state() == Future.State.FAILED) {
          throw new IOException(line.exceptionNow());
        }
      }
    } catch (IOException e) {
      whenBroken.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      stopped = true;
      cancelWaiting();
    }
  }

  private void cancelWaiting() {
    for (var line = lines.poll(); line != null; line = lines.poll()) {
      line.cancel(false);
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
    FutureTask<Boolean> line = add(json, false);
    try {
      boolean _ = line.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (CancellationException e) {
      throw new UpstreamException.SessionGone();
    } catch (ExecutionException e) {
      throw new UpstreamException.Broken("the process did not take a whole message", e.getCause());
    } catch (TimeoutException e) {
      throw lines.remove(line)
          ? new UpstreamException.Unreachable(null)
          : new UpstreamException.TimedOut("it does not read what it is sent");
    } catch (InterruptedException e) {
      lines.remove(line); // Nobody waits for it, and its bytes are no longer counted.
      throw UpstreamException.Broken.interrupted(e);
    }
  }

  /** Queues the last line: stdin is closed after it. */
  void writeLast(byte[] text) {
    var _ = add(text, true);
  }

  /** Queues a line. Drops it if too many lines wait or the process reads no more. */
  void writeLater(byte[] json) {
    if (!stopped && lines.size() < MAX_WAITING) {
      var _ = add(json, false);
    }
  }

  private FutureTask<Boolean> add(byte[] line, boolean last) {
    FutureTask<Boolean> task =
        new FutureTask<>(() -> {
          out.write(line);
          out.write('\n');
          out.flush();
          if (last) {
            closing = true;
          }
          return true;
        });
    lines.add(task);
    if (stopped) {
      cancelWaiting(); // The thread may have stopped before it saw the line.
    }
    return task;
  }

  /** Closes stdin after the current write, without waiting. Drops the waiting lines. */
  void close() {
    closing = true;
    lines.add(new FutureTask<>(() -> true)); // Wakes the thread.
  }
}
