package dev.holdfast.config;

import java.util.Locale;
import java.util.Set;
import org.eclipse.microprofile.config.spi.Converter;
import org.jspecify.annotations.Nullable;

/**
 * Converts a word to a boolean. The converter of the framework takes every other word for false.
 */
final class BooleanConverter implements Converter<Boolean> {

  private static final Set<String> YES = Set.of("true", "yes", "y", "on", "1");
  private static final Set<String> NO = Set.of("false", "no", "n", "off", "0");

  /**
   * Returns null for an empty text: the key is not set.
   *
   * @throws IllegalArgumentException if the text is neither a word for true nor one for false
   */
  @Override
  public @Nullable Boolean convert(String text) {
    String word = text.strip().toLowerCase(Locale.ROOT);
    if (word.isEmpty()) {
      return null;
    }
    if (!YES.contains(word) && !NO.contains(word)) {
      throw new IllegalArgumentException("must be true or false");
    }
    return YES.contains(word);
  }
}
