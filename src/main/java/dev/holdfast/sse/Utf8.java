package dev.holdfast.sse;

import java.nio.charset.StandardCharsets;

/**
 * "UTF-8 decode" of the WHATWG Encoding standard, on bytes: each maximal ill-formed part becomes
 * one U+FFFD. {@link String} differs: it counts an encoded surrogate ({@code ED A0 80}) as one
 * error, the standard as three.
 */
final class Utf8 {

  private static final byte[] REPLACEMENT = {(byte) 0xEF, (byte) 0xBF, (byte) 0xBD};

  private Utf8() {}

  /** Whether {@code [from, to)} is well-formed. ASCII costs one quick scan. */
  static boolean isValid(byte[] bytes, int from, int to) {
    return validEnd(bytes, from, to) == to;
  }

  /** A copy of {@code [from, to)} with ill-formed parts replaced. */
  static byte[] repair(byte[] bytes, int from, int to) {
    GrowableBytes repaired = new GrowableBytes(to - from);
    int i = from;
    while (i < to) {
      int valid = validEnd(bytes, i, to);
      repaired.append(bytes, i, valid - i);
      i = valid;
      if (i < to) {
        repaired.append(REPLACEMENT, 0, REPLACEMENT.length);
        i -= sequence(bytes, i, to);
      }
    }
    return repaired.toByteArray();
  }

  /** {@code [from, to)} as text, ill-formed parts replaced. */
  static String decode(byte[] bytes, int from, int to) {
    if (isValid(bytes, from, to)) {
      return new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }
    return new String(repair(bytes, from, to), StandardCharsets.UTF_8);
  }

  /** Index of the first ill-formed byte, or {@code to}. */
  private static int validEnd(byte[] bytes, int from, int to) {
    int i = ByteScan.asciiEnd(bytes, from, to);
    while (i < to) {
      int length = sequence(bytes, i, to);
      if (length < 0) {
        return i;
      }
      i += length;
      // The quick scan only pays off at ASCII.
      if (i < to && bytes[i] >= 0) {
        i = ByteScan.asciiEnd(bytes, i, to);
      }
    }
    return to;
  }

  /**
   * The length of the well-formed sequence at {@code i}, or minus the length of the maximal
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
