package dev.holdfast.config;

import jakarta.annotation.Priority;
import java.util.Locale;
import org.eclipse.microprofile.config.spi.Converter;
import org.jspecify.annotations.Nullable;

/** Converts a truth value. The converter of the framework takes every unknown word for false. */
@Priority(300)
public final class BooleanConverter implements Converter<Boolean> {

  /** Returns null for an empty text: the key is not set. */
  @Override
  public @Nullable Boolean convert(String text) {
    return switch (text.strip().toLowerCase(Locale.ROOT)) {
      case "" -> null;
      case "true", "yes", "y", "on", "1" -> true;
      case "false", "no", "n", "off", "0" -> false;
      default -> throw new IllegalArgumentException("must be true or false");
    };
  }
}
