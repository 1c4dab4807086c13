package dev.holdfast.http.limit;

import io.quarkus.runtime.configuration.MemorySize;
import io.quarkus.runtime.configuration.MemorySizeConverter;
import java.math.BigInteger;
import org.eclipse.microprofile.config.spi.Converter;
import org.jspecify.annotations.Nullable;

/** Converts a size of 1 KiB to 1 TiB. */
public final class SizeConverter implements Converter<MemorySize> {

  private static final BigInteger MIN = BigInteger.ONE.shiftLeft(10);
  private static final BigInteger MAX = BigInteger.ONE.shiftLeft(40);

  /**
   * @throws IllegalArgumentException if the text is not a number with an optional unit, or the
   *     number is out of bounds
   */
  @Override
  public @Nullable MemorySize convert(String text) {
    MemorySize size = new MemorySizeConverter().convert(text);
    if (size == null) {
      return null; // An empty text: the key is not set.
    }
    BigInteger bytes = size.asBigInteger();
    if (bytes.compareTo(MIN) < 0 || bytes.compareTo(MAX) > 0) {
      throw new IllegalArgumentException("must be 1K to 1T, not " + bytes + " bytes");
    }
    return size;
  }
}
