package dev.holdfast.http;

import io.quarkus.runtime.configuration.MemorySize;
import io.quarkus.runtime.configuration.MemorySizeConverter;
import java.math.BigInteger;
import org.eclipse.microprofile.config.spi.Converter;

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
      throw new IllegalArgumentException("must be 1K to 256M, not " + value + " bytes");
    }
  }

  /**
   * Reads a number with an optional unit, as Quarkus reads memory sizes.
   *
   * <p>Named by the mapping: of a static method found by convention, the configuration swallows the
   * message.
   */
  public static final class FromText implements Converter<MessageBytes> {

    private static final BigInteger TOO_MANY = BigInteger.valueOf(Integer.MAX_VALUE);

    /**
     * @throws IllegalArgumentException when it is no number, or out of bounds
     */
    @Override
    public MessageBytes convert(String text) {
      MemorySize size = new MemorySizeConverter().convert(text);
      return new MessageBytes(size.asBigInteger().min(TOO_MANY).intValueExact());
    }
  }
}
