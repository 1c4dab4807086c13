package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;

/** A field name at the start of a line. */
final class FieldName {

  static final FieldName DATA = new FieldName("data");
  static final FieldName EVENT = new FieldName("event");
  static final FieldName ID = new FieldName("id");
  static final FieldName RETRY = new FieldName("retry");

  /** Result for a line with another field name. */
  static final int NO_MATCH = -1;

  private final byte[] bytes;

  private FieldName(String name) {
    this.bytes = name.getBytes(US_ASCII);
  }

  /**
   * Finds the value in the line {@code [from, to)}: after the first colon and one space. A line
   * without a colon is a name with an empty value.
   *
   * @return the index of the value; {@code to} if it is empty; {@link #NO_MATCH} for another name
   */
  int valueIn(byte[] line, int from, int to) {
    int colon = from + bytes.length;
    if (colon > to || !Arrays.equals(line, from, colon, bytes, 0, bytes.length)) {
      return NO_MATCH;
    }
    if (colon == to) {
      return to;
    }
    if (line[colon] != ':') {
      return NO_MATCH;
    }
    int value = colon + 1;
    return value < to && line[value] == ' ' ? value + 1 : value;
  }
}
