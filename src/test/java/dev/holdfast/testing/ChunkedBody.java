package dev.holdfast.testing;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/** The body of a response in chunked coding. It reads no more than it is asked for. */
final class ChunkedBody extends InputStream {

  private final InputStream in;

  /** What is left of the current chunk. */
  private int left;

  private boolean ended;

  /** Reads from the first byte of the body. */
  ChunkedBody(InputStream in) {
    this.in = in;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (left == 0 && !ended) {
      left = Integer.parseInt(line(), 16);
      ended = left == 0;
    }
    if (ended) {
      return -1;
    }
    int read = in.read(bytes, offset, Math.min(length, left));
    if (read < 0) {
      throw new EOFException("within a chunk");
    }
    left -= read;
    if (left == 0) {
      line();
    }
    return read;
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("between chunks");
      }
      line.append((char) next);
    }
    return line.toString().strip();
  }
}
