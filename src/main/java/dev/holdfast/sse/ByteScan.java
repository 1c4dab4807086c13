package dev.holdfast.sse;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Searches byte ranges eight bytes at a time (SWAR: SIMD within a {@code long}). */
final class ByteScan {

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long ONES = 0x0101_0101_0101_0101L;
  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;
  private static final long ALL_LF = '\n' * ONES;
  private static final long ALL_CR = '\r' * ONES;

  private ByteScan() {}

  /** Index of the first CR or LF in {@code [from, to)}, or {@code to} when there is none. */
  static int lineEnd(byte[] bytes, int from, int to) {
    int i = from;
    for (; i <= to - Long.BYTES; i += Long.BYTES) {
      long word = (long) LONG.get(bytes, i);
      long hits = zeroBytes(word ^ ALL_LF) | zeroBytes(word ^ ALL_CR);
      if (hits != 0) {
        return i + (Long.numberOfTrailingZeros(hits) >>> 3);
      }
    }
    while (i < to && bytes[i] != '\n' && bytes[i] != '\r') {
      i++;
    }
    return i;
  }

  /** Index of the first byte outside ASCII in {@code [from, to)}, or {@code to}. */
  static int asciiEnd(byte[] bytes, int from, int to) {
    int i = from;
    for (; i <= to - Long.BYTES; i += Long.BYTES) {
      long hits = (long) LONG.get(bytes, i) & HIGH_BITS;
      if (hits != 0) {
        return i + (Long.numberOfTrailingZeros(hits) >>> 3);
      }
    }
    while (i < to && bytes[i] >= 0) {
      i++;
    }
    return i;
  }

  /**
   * Sets the high bit of every zero byte. The subtraction may borrow into bytes above a zero byte,
   * but never below it. So the lowest bit set is right, and callers use only that one.
   */
  private static long zeroBytes(long word) {
    return (word - ONES) & ~word & HIGH_BITS;
  }
}
