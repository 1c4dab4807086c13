package dev.holdfast.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Reads HTTP/1.1 from a socket, as little of it as both ends of a benchmark need. */
final class HttpInput {

  private final InputStream in;
  private final byte[] buffer = new byte[16 << 10];
  private int position;
  private int limit;

  HttpInput(InputStream in) {
    this.in = in;
  }

  /** Reads the next head; null when the peer has closed the connection instead. */
  @Nullable HttpHead head() throws IOException {
    if (position == limit && !fill()) {
      return null;
    }
    String start = line();
    Map<String, String> fields = new HashMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      fields.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    return new HttpHead(start, fields);
  }

  /** Passes on the body that belongs to a head, piece by piece as it comes. */
  void body(HttpHead head, Sink sink) throws IOException {
    if (!head.isChunked()) {
      pass(head.length(), sink);
      return;
    }
    for (int size = chunkSize(); size > 0; size = chunkSize()) {
      pass(size, sink);
      line();
    }
    line();
  }

  /** Passes on a body without length as it comes, until it is enough. The rest is not read. */
  void body(Sink sink, BooleanSupplier enough) throws IOException {
    while (!enough.getAsBoolean()) {
      require();
      int begin = position;
      position = limit;
      sink.take(buffer, begin, limit - begin);
    }
  }

  /** Waits until the peer closes the connection; what it says until then is not heard. */
  void awaitEnd() throws IOException {
    while (fill()) {
      position = limit;
    }
  }

  private int chunkSize() throws IOException {
    return Integer.parseInt(line(), 16);
  }

  private void pass(int count, Sink sink) throws IOException {
    int left = count;
    while (left > 0) {
      require();
      int piece = Math.min(left, limit - position);
      sink.take(buffer, position, piece);
      position += piece;
      left -= piece;
    }
  }

  private String line() throws IOException {
    StringBuilder before = new StringBuilder();
    while (true) {
      require();
      for (int at = position; at < limit; at++) {
        if (buffer[at] == '\n') {
          before.append(new String(buffer, position, at - position, ISO_8859_1));
          position = at + 1;
          return before.toString().stripTrailing();
        }
      }
      before.append(new String(buffer, position, limit - position, ISO_8859_1));
      position = limit;
    }
  }

  private void require() throws IOException {
    if (position == limit && !fill()) {
      throw new EOFException("the connection was cut");
    }
  }

  private boolean fill() throws IOException {
    position = 0;
    limit = Math.max(0, in.read(buffer));
    return limit > 0;
  }
}
