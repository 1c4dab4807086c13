package dev.holdfast.http;

import io.quarkus.runtime.configuration.MemorySizeConverter;

/**
 * A bound on the size of messages.
 *
 * @param value in bytes
 */
public record MessageBytes(int value) {

  private static final int LEAST = 1024;
  private static final int MOST = 256 * 1024 * 1024;

  /**
   * @throws IllegalArgumentException when it is out of bounds
   */
  public MessageBytes {
    if (value < LEAST || value > MOST) {
      throw new IllegalArgumentException("a message size is 1K to 256M, not " + value + " bytes");
    }
  }

  /**
   * Reads a number with an optional unit, as Quarkus reads memory sizes.
   *
   * @throws IllegalArgumentException when it is none, or out of bounds
   */
  public static MessageBytes of(String text) {
    long bytes = new MemorySizeConverter().convert(text).asLongValue();
    return new MessageBytes((int) Math.min(bytes, Integer.MAX_VALUE));
  }
}
