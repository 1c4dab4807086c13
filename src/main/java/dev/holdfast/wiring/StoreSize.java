package dev.holdfast.wiring;

import io.quarkus.runtime.configuration.MemorySize;
import io.quarkus.runtime.configuration.MemorySizeConverter;
import java.math.BigInteger;
import org.eclipse.microprofile.config.spi.Converter;

/** Reads how much memory a store may take: 1 kB to 1 TB. */
public final class StoreSize implements Converter<MemorySize> {

  private static final BigInteger LEAST = BigInteger.ONE.shiftLeft(10);
  private static final BigInteger MOST = BigInteger.ONE.shiftLeft(40);

  /**
   * @throws IllegalArgumentException when it is no number with an optional unit, or out of bounds
   */
  @Override
  public MemorySize convert(String text) {
    MemorySize size = new MemorySizeConverter().convert(text);
    BigInteger bytes = size.asBigInteger();
    if (bytes.compareTo(LEAST) < 0 || bytes.compareTo(MOST) > 0) {
      throw new IllegalArgumentException("must be 1K to 1T, not " + bytes + " bytes");
    }
    return size;
  }
}
