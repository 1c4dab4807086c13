package dev.holdfast.http.limit;

import io.quarkus.runtime.configuration.MemorySize;
import io.quarkus.runtime.configuration.MemorySizeConverter;
import java.math.BigInteger;
import org.eclipse.microprofile.config.spi.Converter;
import org.jspecify.annotations.Nullable;

/**
 * The size of the largest message, from 1K to 256M.
 *
 * @param value in bytes
 */
public record MessageBytes(int value) {

  private static final BigInteger MIN = BigInteger.valueOf(1024);
  private static final BigInteger MAX = BigInteger.valueOf(256 * 1024 * 1024);

  /** Reads a number of bytes with an optional unit, as Quarkus reads memory sizes. */
  public static final class FromText implements Converter<MessageBytes> {
    @Override
    public @Nullable MessageBytes convert(String text) {
      MemorySize size = new MemorySizeConverter().convert(text);
      if (size == null) {
        return null; // An empty text is a missing value.
      }
      BigInteger bytes = size.asBigInteger();
      if (bytes.compareTo(MIN) < 0 || bytes.compareTo(MAX) > 0) {
        throw new IllegalArgumentException("must be 1K to 256M, not " + bytes + " bytes");
      }
      return new MessageBytes(bytes.intValueExact());
    }
  }
}
