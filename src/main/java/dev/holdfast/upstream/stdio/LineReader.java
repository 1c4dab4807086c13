package dev.holdfast.upstream.stdio;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Reads lines of bounded length that end with LF or CRLF. For one thread. */
public final class LineReader {

  private static final int BUFFER = 8192;

  private final InputStream in;
  private final int maxBytes;
  private final LongPredicate mayHold;
  private final byte[] buffer = new byte[BUFFER];
  private int from;
  private int to;

  /** A line is longer than the bound. */
  public static final class LineTooLongException extends Exception {
    private LineTooLongException() {
      super("a line is too long", null, false, false);
    }
  }

  /** Reads nothing yet. The bound of a line excludes its end. */
  public LineReader(InputStream in, int maxBytes) {
    this(in, maxBytes, _ -> true);
  }

  /**
   * Reads nothing yet. {@code mayHold} gets the bytes of a line that is longer than the buffer,
   * before they are kept until the next line. If it refuses, the line is too long.
   */
  LineReader(InputStream in, int maxBytes, LongPredicate mayHold) {
    this.in = in;
    this.maxBytes = maxBytes;
    this.mayHold = mayHold;
  }

  /**
   * Waits for the next line. The last line needs no line end.
   *
   * @return the line without its end; null at the end of the stream
   * @throws LineTooLongException if the line is too long; the next call continues in its middle
   */
  public byte @Nullable [] next() throws IOException, LineTooLongException {
    ByteArrayOutputStream begun = null;
    int length = 0;
    byte last = 0;
    boolean _ = mayHold.test(0);
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
      if (!mayHold.test(length)) {
        from = end;
        throw new LineTooLongException();
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

  /** Skips the rest of the line. */
  public void skipLine() throws IOException {
    while (from < to || fill()) {
      int end = lineEnd();
      from = end + 1;
      if (end < to) {
        return;
      }
    }
  }

  void skipAll() throws IOException {
    do {
      from = to;
    } while (fill());
  }

  /** Index of the next line end in the buffer; {@code to} if the buffer has none. */
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
