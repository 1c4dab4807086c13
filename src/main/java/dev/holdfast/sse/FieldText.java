package dev.holdfast.sse;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The value of an {@code id} or {@code event} field: kept as bytes, decoded once, when asked for.
 */
final class FieldText {

  private static final int RETAINED_BYTES = 64;

  private final GrowableBytes bytes = new GrowableBytes(RETAINED_BYTES);
  private @Nullable String text = "";

  void set(byte[] source, int from, int to) {
    if (!matches(source, from, to)) {
      bytes.clear();
      bytes.append(source, from, to - from);
      text = null;
    }
  }

  boolean matches(byte[] source, int from, int to) {
    return Arrays.equals(bytes.array(), 0, bytes.length(), source, from, to);
  }

  String text() {
    String decoded = text;
    if (decoded == null) {
      decoded = Utf8.decode(bytes.array(), 0, bytes.length());
      text = decoded;
    }
    return decoded;
  }
}
