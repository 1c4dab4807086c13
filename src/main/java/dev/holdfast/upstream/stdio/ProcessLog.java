package dev.holdfast.upstream.stdio;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.budget.LogRate;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Logs the output of a process except its messages, with the name of the upstream. A line on stderr
 * need not be an error.
 *
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio">MCP
 *     2025-11-25, Transports, stdio</a>
 */
final class ProcessLog {

  private static final Logger LOG = Logger.getLogger(ProcessLog.class);

  /** Maximum number of bytes that are logged per line. */
  static final int MAX_LINE = 2000;

  /** Lines that one process may log at once; then one per interval. */
  static final int BURST = 100;

  private static final Duration INTERVAL = Duration.ofMillis(50);

  private final String name;
  private final long pid;
  private final LogRate errors = new LogRate(INTERVAL, BURST);
  private final LogRate invalid = new LogRate(INTERVAL, BURST);
  private final CountDownLatch stderrEnded = new CountDownLatch(1);

  /** Written by the thread that reads stderr. */
  private volatile String lastLine = "";

  ProcessLog(String name, long pid) {
    this.name = name;
    this.pid = pid;
  }

  /** Logs each line of stderr until it ends. */
  void logStderr(InputStream stderr) {
    LineReader lines = new LineReader(stderr, MAX_LINE);
    try {
      for (byte[] line = next(lines); line != null; line = next(lines)) {
        if (line.length > 0) {
          logLine(printable(line));
        }
      }
    } catch (IOException e) {
      LOG.debugf("stderr broke: upstream=%s pid=%d", name, pid);
    } finally {
      stderrEnded.countDown();
    }
  }

  private void logLine(String line) {
    lastLine = line;
    errors
        .next()
        .ifPresent(dropped -> {
          LOG.infof("stderr of process upstream=%s pid=%d line=%s", name, pid, line);
          logDropped(dropped);
        });
  }

  /**
   * Returns the last line of stderr that is not empty, printable. Waits until stderr ends.
   *
   * @param most bound of the wait
   * @return the last line so far; empty if there is none
   */
  String lastLine(Duration most) throws InterruptedException {
    boolean _ = stderrEnded.await(most.toNanos(), TimeUnit.NANOSECONDS);
    return lastLine;
  }

  private static byte @Nullable [] next(LineReader lines) throws IOException {
    try {
      return lines.next();
    } catch (LineReader.LineTooLongException e) {
      lines.skipLine();
      return "(a line too long to show)".getBytes(UTF_8);
    }
  }

  /** Logs an invalid line of stdout. Only DEBUG shows its text, which may be secret. */
  void logInvalidMessage(byte[] line) {
    invalid
        .next()
        .ifPresent(dropped -> {
          LOG.infof(
              "stdout line ignored, not JSON-RPC upstream=%s pid=%d bytes=%d",
              name, pid, line.length);
          if (LOG.isDebugEnabled()) {
            LOG.debugf("upstream=%s ignored: %s", name, printable(line));
          }
          logDropped(dropped);
        });
  }

  private void logDropped(long dropped) {
    if (dropped > 0) {
      LOG.infof("lines not logged upstream=%s pid=%d lines=%d", name, pid, dropped);
    }
  }

  /** Removes characters that could forge a log line or drive a terminal. */
  private static String printable(byte[] line) {
    String text = new String(line, 0, Math.min(line.length, MAX_LINE), UTF_8);
    return text.replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", " ");
  }
}
