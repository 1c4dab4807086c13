package dev.holdfast.sse;

import java.util.Arrays;

/**
 * Data buffer of the unfinished event. It first points into the array of its line. The bytes are
 * copied when a second line is joined to them, or before that array is reused.
 */
final class EventData {

  /** Capacity that a buffer keeps between events; small, because each open stream has a parser. */
  static final int RETAINED_BYTES = 512;

  private static final byte[] EMPTY = {};

  private final int maxBytes;
  private final GrowableBytes kept = new GrowableBytes(RETAINED_BYTES);
  private byte[] array = EMPTY;
  private int offset;
  private int length;
  private boolean present;

  EventData(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Adds the value of one {@code data} line. */
  void addLine(byte[] source, int from, int count) {
    long total = present ? length + 1L + count : count;
    if (total > maxBytes) {
      throw new SseLimitException(SseLimitException.Limit.EVENT, maxBytes);
    }
    if (present) {
      keep();
      kept.append((byte) '\n');
      kept.append(source, from, count);
      show(kept.array(), 0, kept.length());
    } else {
      show(source, from, count);
      present = true;
    }
  }

  /** Copies data that still lies in the array of its line. */
  void keep() {
    if (present && kept.length() != length) {
      kept.append(array, offset, length);
      show(kept.array(), 0, kept.length());
    }
  }

  /** Replaces ill-formed UTF-8. Once per event is enough: a line end never splits a sequence. */
  void repair() {
    if (!Utf8.isValid(array, offset, offset + length)) {
      byte[] repaired = Utf8.repair(array, offset, offset + length);
      show(repaired, 0, repaired.length);
    }
  }

  void clear() {
    kept.clear();
    show(EMPTY, 0, 0);
    present = false;
  }

  /** Whether the event has a {@code data} line, even an empty one. */
  boolean present() {
    return present;
  }

  byte[] array() {
    return array;
  }

  int offset() {
    return offset;
  }

  int length() {
    return length;
  }

  byte[] copy() {
    return Arrays.copyOfRange(array, offset, offset + length);
  }

  private void show(byte[] newArray, int newOffset, int newLength) {
    array = newArray;
    offset = newOffset;
    length = newLength;
  }
}
