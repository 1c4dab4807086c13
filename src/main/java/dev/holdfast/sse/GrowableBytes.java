package dev.holdfast.sse;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * An append-only byte buffer that starts empty, grows by half or more, and gives a large array back
 * when cleared, so that an idle stream holds next to nothing after one huge event.
 */
final class GrowableBytes {

  private static final byte[] EMPTY = {};

  private final int retained;
  private byte[] array = EMPTY;
  private int length;

  /**
   * @param retained bytes of capacity to allocate at first use and to keep over {@link #clear()}
   */
  GrowableBytes(int retained) {
    this.retained = retained;
  }

  /** The backing array; filled up to {@link #length()}, replaced when it grows or is cleared. */
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

  /** Appends text as UTF-8; ASCII, by far the most common, without a copy in between. */
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

  /** Forgets the content. Whoever still reads the old array may finish before the next append. */
  void clear() {
    length = 0;
    if (array.length > retained) {
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
