package dev.holdfast.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;

/**
 * Finds a number in JSON by its name alone. Reads no structure: it is for messages that we write
 * ourselves, where parsing would take longer than what is measured.
 */
final class JsonNumber {

  /** What {@link #in} gives when there is no such number; none of ours is negative. */
  static final long ABSENT = -1;

  private final byte[] name;

  JsonNumber(String name) {
    this.name = ("\"" + name + "\":").getBytes(US_ASCII);
  }

  /** The first number of that name, or {@link #ABSENT}. */
  long in(byte[] array, int offset, int length) {
    int last = offset + length - name.length;
    for (int at = offset; at < last; at++) {
      if (array[at] == '"' && Arrays.equals(array, at, at + name.length, name, 0, name.length)) {
        return digits(array, at + name.length, offset + length);
      }
    }
    return ABSENT;
  }

  /** The first number of that name, or {@link #ABSENT}. */
  long in(byte[] array) {
    return in(array, 0, array.length);
  }

  private static long digits(byte[] array, int from, int to) {
    long number = 0;
    int at = from;
    while (at < to && array[at] >= '0' && array[at] <= '9') {
      number = number * 10 + array[at] - '0';
      at++;
    }
    return at == from ? ABSENT : number;
  }
}
