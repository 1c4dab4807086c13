package dev.holdfast.http.limit;

import io.quarkus.runtime.configuration.MemorySizeConverter;
import java.math.BigInteger;
import org.eclipse.microprofile.config.spi.Converter;

/**
 * Reads the size of the largest message, from 1K to 256M: a number of bytes with an optional unit,
 * as Quarkus reads memory sizes.
 */
public final class MessageSizeConverter implements Converter<Integer> {

  private static final BigInteger MIN = BigInteger.valueOf(1024);
  private static final BigInteger MAX = BigInteger.valueOf(256 * 1024 * 1024);

  /**
   * Returns the size in bytes.
   *
   * @throws IllegalArgumentException when the text is no number, or is out of bounds
   */
  @Override
  public Integer convert(String text) {
    BigInteger bytes = new MemorySizeConverter().convert(text).asBigInteger();
    if (bytes.compareTo(MIN) < 0 || bytes.compareTo(MAX) > 0) {
      throw new IllegalArgumentException("must be 1K to 256M, not " + bytes + " bytes");
    }
    return bytes.intValueExact();
  }
}
