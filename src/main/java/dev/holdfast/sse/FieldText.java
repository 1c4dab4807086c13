package dev.holdfast.sse;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Value of an {@code id} or {@code event} field. The bytes are decoded once, on demand. {@link
 * #clear} keeps them, because servers tend to send the same value with every event.
 */
final class FieldText {

  private static final int RETAINED_BYTES = 64;

  private final GrowableBytes bytes = new GrowableBytes(RETAINED_BYTES);
  private @Nullable String text = "";
  private boolean present;

  void set(byte[] source, int from, int to) {
    if (!matches(source, from, to)) {
      bytes.clear();
      bytes.append(source, from, to - from);
      text = null;
    }
    present = true;
  }

  void clear() {
    present = false;
  }

  boolean matches(byte[] source, int from, int to) {
    return Arrays.equals(bytes.array(), 0, bytes.length(), source, from, to);
  }

  /** The value; empty when none is set. */
  String text() {
    if (!present) {
      return "";
    }
    String decoded = text;
    if (decoded == null) {
      decoded = Utf8.decode(bytes.array(), 0, bytes.length());
      text = decoded;
    }
    return decoded;
  }
}
