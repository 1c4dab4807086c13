package dev.holdfast.upstream.stdio;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Takes lines from a stream of bytes and keeps no more than one line of bounded length. Lines end
 * with LF or CRLF. For one thread.
 */
public final class LineReader {

  private static final int BUFFER = 8192;

  private final InputStream in;
  private final int maxBytes;
  private final byte[] buffer = new byte[BUFFER];
  private int from;
  private int to;

  /**
   * Reads nothing yet.
   *
   * @param maxBytes the length of the longest line, without its end
   */
  public LineReader(InputStream in, int maxBytes) {
    this.in = in;
    this.maxBytes = maxBytes;
  }

  /**
   * Waits for the next line.
   *
   * @return the line without its end; null when there is none any more. What comes last need not
   *     have an end
   * @throws LineTooLongException if it is too long; the next call goes on in the middle of it
   */
  public byte @Nullable [] next() throws IOException, LineTooLongException {
    ByteArrayOutputStream begun = null;
    int length = 0;
    byte last = 0;
    while (from < to || fill()) {
      int end = lineEnd();
      length += end - from;
      last = end > from ? buffer[end - 1] : last;
      if (length > maxBytes + 1 || (length > maxBytes && last != '\r')) {
        from = end;
        throw new LineTooLongException();
      }
      if (end < to && begun == null) {
        byte[] line = Arrays.copyOfRange(buffer, from, end);
        from = end + 1;
        return withoutCr(line);
      }
      begun = begun == null ? new ByteArrayOutputStream(2 * BUFFER) : begun;
      begun.write(buffer, from, end - from);
      from = end + 1;
      if (end < to) {
        return withoutCr(begun.toByteArray());
      }
    }
    return begun == null ? null : withoutCr(begun.toByteArray());
  }

  /** Waits for the end of the line, and forgets what is left of it. */
  public void skipLine() throws IOException {
    while (from < to || fill()) {
      int end = lineEnd();
      from = end + 1;
      if (end < to) {
        return;
      }
    }
  }

  /** Waits for the end of the stream, and forgets all that comes before. */
  void skipAll() throws IOException {
    do {
      from = to;
    } while (fill());
  }

  /** Where the line ends that begins at {@code from}; {@code to} if that has not come yet. */
  private int lineEnd() {
    int end = from;
    while (end < to && buffer[end] != '\n') {
      end++;
    }
    return end;
  }

  private boolean fill() throws IOException {
    from = 0;
    to = Math.max(0, in.read(buffer));
    return to > 0;
  }

  private static byte[] withoutCr(byte[] line) {
    boolean cr = line.length > 0 && line[line.length - 1] == '\r';
    return cr ? Arrays.copyOf(line, line.length - 1) : line;
  }
}
