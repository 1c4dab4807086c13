package dev.holdfast.log;

import java.util.Comparator;
import java.util.Optional;

/**
 * The position of an event in its stream.
 *
 * <p>The numbers of a stream have no gaps. The difference of two numbers is a count of events, and
 * a missing number means a lost event. The times of a stream never decrease and show the age of a
 * cursor.
 *
 * @param millis time of the write by the clock of the store, in milliseconds since the epoch
 * @param number the event's number on its stream: 1, 2, 3, …; 0 stands before the first event
 */
public record Position(long millis, long number) implements Comparable<Position> {

  /** Before the first event of any stream. */
  public static final Position START = new Position(0, 0);

  private static final Comparator<Position> ORDER =
      Comparator.comparingLong(Position::number).thenComparingLong(Position::millis);

  /** The longest valid text: two numbers of nineteen digits and a dash. */
  private static final int MAX_TEXT = 39;

  /**
   * @throws IllegalArgumentException when a part is negative
   */
  public Position {
    if (millis < 0 || number < 0) {
      throw new IllegalArgumentException("a position must not be negative");
    }
  }

  /**
   * Reads {@code <ms>-<n>}, as {@link #toString()} writes it. Text with signs, leading zeros or
   * numbers above 2^63-1 is invalid: every position has exactly one text.
   *
   * @return the position; empty when the text is invalid
   */
  public static Optional<Position> parse(String text) {
    int dash = text.indexOf('-');
    if (dash < 1 || dash == text.length() - 1 || text.length() > MAX_TEXT) {
      return Optional.empty();
    }
    long millis = digits(text, 0, dash);
    long number = digits(text, dash + 1, text.length());
    return millis < 0 || number < 0 ? Optional.empty() : Optional.of(new Position(millis, number));
  }

  /** The number between two indexes; -1 when that text is not a valid number. */
  private static long digits(String text, int from, int to) {
    if (text.charAt(from) == '0' && to - from > 1) {
      return -1;
    }
    long value = 0;
    for (int i = from; i < to; i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9 || value > (Long.MAX_VALUE - digit) / 10) {
        return -1;
      }
      value = value * 10 + digit;
    }
    return value;
  }

  /** Compares by number first: on one stream, numbers and times rise together. */
  @Override
  public int compareTo(Position other) {
    return ORDER.compare(this, other);
  }

  /** The form {@code <ms>-<n>} that Redis Streams and event ids use. */
  @Override
  public String toString() {
    return millis + "-" + number;
  }
}
