package dev.holdfast.config;

import io.quarkus.runtime.configuration.MemorySize;
import io.quarkus.runtime.configuration.MemorySizeConverter;
import java.math.BigInteger;
import org.eclipse.microprofile.config.spi.Converter;
import org.jspecify.annotations.Nullable;

/** Converts a size of 1 KiB to 1 TiB. */
public final class SizeConverter implements Converter<MemorySize> {

  private static final BigInteger MIN = BigInteger.ONE.shiftLeft(10);

  /**
   * @throws IllegalArgumentException if the text is not a number with an optional unit, or the
   *     number is out of bounds
   */
  @Override
  public @Nullable MemorySize convert(String text) {
    return convert(text, 1L << 40, "1K to 1T");
  }

  /** Returns null for an empty text: the key is not set. */
  public static @Nullable MemorySize convert(String text, long most, String range) {
    MemorySize size = new MemorySizeConverter().convert(text);
    BigInteger bytes = size == null ? MIN : size.asBigInteger();
    if (bytes.compareTo(MIN) < 0 || bytes.compareTo(BigInteger.valueOf(most)) > 0) {
      throw new IllegalArgumentException(
          "must be a size of " + range + ", not " + bytes + " bytes");
    }
    return size;
  }
}
