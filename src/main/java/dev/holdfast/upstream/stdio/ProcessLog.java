package dev.holdfast.upstream.stdio;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Brings what a process says besides messages into our log, marked with the name of its upstream.
 * What a server writes to stderr is not an error: it may be anything it has to say.
 *
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio">MCP
 *     2025-11-25, Transports, stdio</a>
 */
final class ProcessLog {

  private static final Logger LOG = System.getLogger(ProcessLog.class.getName());

  /** What is kept of a line. */
  static final int MAX_LINE = 2000;

  private final String name;
  private final long pid;
  private final LogRateLimit errLimit = new LogRateLimit(System::nanoTime);
  private final LogRateLimit outLimit = new LogRateLimit(System::nanoTime);

  ProcessLog(String name, long pid) {
    this.name = name;
    this.pid = pid;
  }

  /** Logs all lines of the process's stderr, until it ends. */
  void follow(InputStream stderr) {
    LineReader lines = new LineReader(stderr, MAX_LINE);
    try {
      for (byte[] line = next(lines); line != null; line = next(lines)) {
        if (line.length > 0 && errLimit.admits()) {
          LOG.log(Level.INFO, "upstream={0} pid={1} stderr: {2}", name, id(), shown(line));
          logDropped(errLimit);
        }
      }
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "upstream={0} pid={1} stderr broke", name, id());
    }
  }

  private static byte @Nullable [] next(LineReader lines) throws IOException {
    try {
      return lines.next();
    } catch (LineTooLongException e) {
      lines.skipLine();
      return "(a line too long to show)".getBytes(UTF_8);
    }
  }

  /** Notes a line of stdout that is no message. It may hold anything, so only DEBUG shows it. */
  void noMessage(byte[] line) {
    if (outLimit.admits()) {
      LOG.log(
          Level.INFO,
          "upstream={0} pid={1} wrote to stdout what is no JSON-RPC message, ignored: bytes={2}",
          name,
          id(),
          line.length);
      LOG.log(Level.DEBUG, () -> "upstream=" + name + " ignored: " + shown(line));
      logDropped(outLimit);
    }
  }

  private void logDropped(LogRateLimit limit) {
    long dropped = limit.dropped();
    if (dropped > 0) {
      LOG.log(Level.INFO, "upstream={0} pid={1} lines not logged: {2}", name, id(), dropped);
    }
  }

  /** As text: a message format would put separators into the number. */
  private String id() {
    return Long.toString(pid);
  }

  /** Without what could forge a line of our log, or drive the terminal that shows it. */
  private static String shown(byte[] line) {
    String text = new String(line, 0, Math.min(line.length, MAX_LINE), UTF_8);
    return text.replaceAll("\\p{Cntrl}|[\\u2028\\u2029]", " ");
  }
}
