package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Text as bytes of UTF-8: line ends, validation and repair. Searches look at eight bytes at a time
 * (SWAR: SIMD within a {@code long}).
 */
public final class Utf8 {

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long ONES = 0x0101_0101_0101_0101L;
  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;
  private static final long ALL_LF = '\n' * ONES;
  private static final long ALL_CR = '\r' * ONES;
  private static final byte[] REPLACEMENT = {(byte) 0xEF, (byte) 0xBF, (byte) 0xBD};

  private Utf8() {}

  /** Returns the index of the first CR or LF in {@code [from, to)}; {@code to} without one. */
  public static int lineEnd(byte[] bytes, int from, int to) {
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

  /**
   * Sets the high bit of every zero byte. The subtraction may borrow into bytes above a zero byte,
   * but never below it. So the lowest bit set is right, and callers use only that one.
   */
  private static long zeroBytes(long word) {
    return (word - ONES) & ~word & HIGH_BITS;
  }

  /**
   * Returns the same JSON without line ends, as an SSE {@code data} field and the stdio transport
   * require it. Each raw CR or LF becomes a space. It can only be insignificant white space, since
   * JSON strings escape both.
   *
   * @param json valid JSON; not changed
   * @return the same array if it has no line end, otherwise a changed copy of the same length
   */
  public static byte[] singleLine(byte[] json) {
    int lineEnd = lineEnd(json, 0, json.length);
    if (lineEnd == json.length) {
      return json;
    }
    byte[] line = json.clone();
    for (; lineEnd < line.length; lineEnd = lineEnd(line, lineEnd, line.length)) {
      line[lineEnd] = ' ';
    }
    return line;
  }

  /** Returns whether {@code [from, to)} is well-formed. ASCII costs one quick scan. */
  public static boolean isValid(byte[] bytes, int from, int to) {
    return validEnd(bytes, from, to) == to;
  }

  /**
   * Returns {@code [from, to)} as text, repaired.
   *
   * @see #repair
   */
  public static String decode(byte[] bytes, int from, int to) {
    return isValid(bytes, from, to)
        ? new String(bytes, from, to - from, UTF_8)
        : new String(repair(bytes, from, to), UTF_8);
  }

  /**
   * Returns a copy of {@code [from, to)} with one U+FFFD for each maximal ill-formed part, as
   * "UTF-8 decode" of the WHATWG Encoding standard. {@link String} differs: it counts an encoded
   * surrogate ({@code ED A0 80}) as one error, the standard as three.
   */
  public static byte[] repair(byte[] bytes, int from, int to) {
    ByteArrayOutputStream repaired = new ByteArrayOutputStream(to - from);
    int i = from;
    while (i < to) {
      int valid = validEnd(bytes, i, to);
      repaired.write(bytes, i, valid - i);
      i = valid;
      if (i < to) {
        repaired.writeBytes(REPLACEMENT);
        i -= sequence(bytes, i, to);
      }
    }
    return repaired.toByteArray();
  }

  private static int validEnd(byte[] bytes, int from, int to) {
    int i = asciiEnd(bytes, from, to);
    while (i < to) {
      int length = sequence(bytes, i, to);
      if (length < 0) {
        return i;
      }
      i += length;
      // The quick scan only pays off at ASCII.
      if (i < to && bytes[i] >= 0) {
        i = asciiEnd(bytes, i, to);
      }
    }
    return to;
  }

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
   * Returns the length of the well-formed sequence at {@code i}, or minus the length of the maximal
   * ill-formed part. The bounds of the second byte exclude overlong forms, surrogates and code
   * points past U+10FFFF.
   */
  private static int sequence(byte[] bytes, int i, int to) {
    int lead = bytes[i] & 0xFF;
    if (lead < 0x80) {
      return 1;
    }
    if (lead < 0xC2 || lead > 0xF4) {
      return -1;
    }
    int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    int lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    int highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    for (int k = 1; k < length; k++) {
      int next = i + k < to ? bytes[i + k] & 0xFF : 0;
      if (next < lowest || next > highest) {
        return -k;
      }
      lowest = 0x80;
      highest = 0xBF;
    }
    return length;
  }
}
