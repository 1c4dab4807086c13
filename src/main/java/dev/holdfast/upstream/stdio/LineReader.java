package dev.holdfast.upstream.stdio;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
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

  /** The part of the current line that is not in the buffer. */
  private @Nullable ByteArrayOutputStream begun;

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
   * @throws LineTooLongException if the line is too long; {@link #skipLine} must follow
   */
  public byte @Nullable [] next() throws IOException, LineTooLongException {
    int length = 0;
    begun = null;
    byte last = 0;
    boolean _ = mayHold.test(0);
    while (from < to || fill()) {
      int end = lineEnd();
      length += end - from;
      last = end > from ? buffer[end - 1] : last;
      if (length > maxBytes + 1 || (length > maxBytes && last != '\r')) {
        throw new LineTooLongException();
      }
      if (end < to && begun == null) {
        byte[] line = Arrays.copyOfRange(buffer, from, end);
        from = end + 1;
        return withoutCr(line);
      }
      if (!mayHold.test(length)) {
        throw new LineTooLongException();
      }
      begun = begun == null ? new ByteArrayOutputStream(2 * BUFFER) : begun;
      begun.write(buffer, from, end - from);
      from = end + 1;
      if (end < to) {
        break;
      }
    }
    byte[] line = begun == null ? null : withoutCr(begun.toByteArray());
    begun = null;
    return line;
  }

  /** Skips a line that is too long. */
  public void skipLine() throws IOException {
    boolean _ = skipLine(OutputStream.nullOutputStream(), Long.MAX_VALUE);
  }

  /**
   * Skips a line that is too long.
   *
   * @param skipped gets the whole line
   * @param most number of bytes after which the line counts as endless
   * @return false if the line is endless
   */
  boolean skipLine(OutputStream skipped, long most) throws IOException {
    long length = 0;
    if (begun != null) {
      begun.writeTo(skipped);
      length = begun.size();
      begun = null;
    }
    boolean _ = mayHold.test(0);
    while (length <= most && (from < to || fill())) {
      int end = lineEnd();
      skipped.write(buffer, from, end - from);
      length += end - from;
      from = end + 1;
      if (end < to) {
        return true;
      }
    }
    return length <= most;
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
