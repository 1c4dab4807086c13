package dev.holdfast.sse;

import dev.holdfast.protocol.Utf8;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Data of the unfinished event. Nearly all events have one line, which is copied only once. */
final class EventData {

  /** Capacity that a buffer keeps between events; small, because each open stream has a parser. */
  static final int RETAINED_BYTES = 512;

  private final int maxBytes;
  private byte @Nullable [] first;
  private final GrowableBytes joined = new GrowableBytes(RETAINED_BYTES);

  EventData(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns whether another line of that length can be added. */
  boolean fits(int bytes) {
    long before = first == null ? 0 : Math.max(first.length, joined.length()) + 1L;
    return before + bytes <= maxBytes;
  }

  /** Removes the lines and passes them on. */
  void skip(SseHandler handler) {
    if (!handler.skips()) {
      throw new SseLimitException("data of an SSE event", maxBytes);
    }
    if (joined.length() > 0) {
      handler.skipped(joined.array(), 0, joined.length());
    } else if (first != null) {
      handler.skipped(first, 0, first.length);
    }
    clear();
  }

  void addLine(byte[] source, int from, int to) {
    if (first == null) {
      first = Arrays.copyOfRange(source, from, to);
      return;
    }
    if (joined.length() == 0) {
      joined.append(first, 0, first.length);
    }
    joined.append((byte) '\n');
    joined.append(source, from, to - from);
  }

  /** Removes the data and returns it as well-formed UTF-8; null without a {@code data} line. */
  byte @Nullable [] take() {
    byte[] data = joined.length() == 0 ? first : joined.toByteArray();
    clear();
    // Once per event is enough: a line end never splits a sequence.
    return data == null || Utf8.isValid(data, 0, data.length)
        ? data
        : Utf8.repair(data, 0, data.length);
  }

  int heldBytes() {
    return joined.array().length + (first == null ? 0 : first.length);
  }

  void clear() {
    first = null;
    joined.clear();
  }
}
