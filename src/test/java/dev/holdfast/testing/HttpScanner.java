package dev.holdfast.testing;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Finds heads and bodies in the bytes of one direction of an HTTP/1.1 connection, one byte at a
 * time, so that a test can cut at any of them.
 */
abstract class HttpScanner {
  private enum State {
    HEAD,
    SIZED_BODY,
    ENDLESS_BODY,
    CHUNK_SIZE,
    CHUNK,
    CHUNK_END,
    TRAILER
  }

  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private final StringBuilder head = new StringBuilder();
  private State state = State.HEAD;
  private long left;

  /** A head is complete. */
  abstract void onHead(String head);

  /** One byte of a body, without chunk framing. */
  abstract void onBody(byte b);

  /** The message is complete; another may follow. */
  abstract void onEnd();

  /** Whether a message with this head has a body up to the end of the connection. */
  abstract boolean isEndless(String head);

  /** Takes the next byte. */
  final void accept(byte b) {
    switch (state) {
      case HEAD, CHUNK_SIZE, CHUNK_END, TRAILER -> acceptInLine(b);
      case ENDLESS_BODY -> onBody(b);
      case SIZED_BODY -> {
        onBody(b);
        if (--left == 0) {
          end();
        }
      }
      case CHUNK -> {
        onBody(b);
        if (--left == 0) {
          state = State.CHUNK_END;
        }
      }
    }
  }

  private void acceptInLine(byte b) {
    if (b != '\n') {
      line.write(b);
      return;
    }
    String text = line.toString(StandardCharsets.ISO_8859_1).strip();
    line.reset();
    switch (state) {
      case HEAD -> acceptHeadLine(text);
      case CHUNK_SIZE -> beginChunk(text);
      case CHUNK_END -> state = State.CHUNK_SIZE;
      case TRAILER -> {
        if (text.isEmpty()) {
          end();
        }
      }
      case SIZED_BODY, ENDLESS_BODY, CHUNK -> throw new IllegalStateException("not in lines");
    }
  }

  private void acceptHeadLine(String text) {
    if (!text.isEmpty()) {
      head.append(text).append("\r\n");
      return;
    }
    String whole = head.toString();
    head.setLength(0);
    onHead(whole);
    left = contentLength(whole);
    if (contains(whole, "\r\ntransfer-encoding: chunked")) {
      state = State.CHUNK_SIZE;
    } else if (left > 0) {
      state = State.SIZED_BODY;
    } else if (left < 0 && isEndless(whole)) {
      state = State.ENDLESS_BODY;
    } else {
      end();
    }
  }

  private void beginChunk(String sizeLine) {
    left = Long.parseLong(sizeLine.split(";", 2)[0], 16);
    state = left == 0 ? State.TRAILER : State.CHUNK;
  }

  private void end() {
    state = State.HEAD;
    onEnd();
  }

  private static long contentLength(String head) {
    return head.lines()
        .filter(header -> header.toLowerCase(Locale.ROOT).startsWith("content-length:"))
        .mapToLong(header -> Long.parseLong(header.substring(15).strip()))
        .findFirst()
        .orElse(-1);
  }

  static boolean contains(String head, String lowerCasePart) {
    return head.toLowerCase(Locale.ROOT).contains(lowerCasePart);
  }
}
