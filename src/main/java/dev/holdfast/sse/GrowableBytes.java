package dev.holdfast.sse;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * An append-only byte buffer that grows by half or more. {@link #clear} drops a large array, so an
 * idle stream holds little memory after one huge event.
 */
final class GrowableBytes {

  private static final byte[] EMPTY = {};

  private final int retained;
  private byte[] array = EMPTY;
  private int length;

  /**
   * Allocates nothing yet.
   *
   * @param retained capacity that is allocated at first use and kept by {@link #clear}, in bytes
   */
  GrowableBytes(int retained) {
    this.retained = retained;
  }

  /** The backing array, filled up to {@link #length}. Growing and clearing may replace it. */
  byte[] array() {
    return array;
  }

  int length() {
    return length;
  }

  void append(byte value) {
    reserve(1);
    array[length++] = value;
  }

  void append(byte[] source, int offset, int count) {
    reserve(count);
    System.arraycopy(source, offset, array, length, count);
    length += count;
  }

  /** Appends text as UTF-8. ASCII, the common case, needs no copy in between. */
  void appendText(String text) {
    int count = text.length();
    reserve(count);
    for (int i = 0; i < count; i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        append(encoded, 0, encoded.length);
        return;
      }
      array[length + i] = (byte) c;
    }
    length += count;
  }

  /** Removes the content. The array keeps its bytes until the next append. */
  void clear() {
    length = 0;
    if (array.length > retained) {
      array = EMPTY;
    }
  }

  /** Drops the array if there is no content. */
  void release() {
    if (length == 0) {
      array = EMPTY;
    }
  }

  byte[] toByteArray() {
    return Arrays.copyOf(array, length);
  }

  private void reserve(int count) {
    int needed = Math.addExact(length, count);
    if (needed > array.length) {
      int grown = array.length + Math.min(array.length >> 1, Integer.MAX_VALUE - 8 - array.length);
      array = Arrays.copyOf(array, Math.max(needed, Math.max(grown, retained)));
    }
  }
}
