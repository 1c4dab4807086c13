package dev.holdfast.http.limit;

import dev.holdfast.config.SizeConverter;
import io.quarkus.runtime.configuration.MemorySize;
import org.eclipse.microprofile.config.spi.Converter;
import org.jspecify.annotations.Nullable;

/**
 * The size of the largest message, from 1K to 256M.
 *
 * @param value in bytes
 */
public record MessageBytes(int value) {

  /** Reads a number of bytes with an optional unit, as Quarkus reads memory sizes. */
  public static final class FromText implements Converter<MessageBytes> {
    @Override
    public @Nullable MessageBytes convert(String text) {
      MemorySize size = SizeConverter.convert(text, 256 << 20, "1K to 256M");
      return size == null ? null : new MessageBytes(Math.toIntExact(size.asLongValue()));
    }
  }
}
