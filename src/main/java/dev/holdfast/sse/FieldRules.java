package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;

/** What a field value must satisfy so that a reader gets back exactly what was written. */
final class FieldRules {

  private FieldRules() {}

  /** An id: one line, no NUL (a reader ignores such an id), not empty (it would erase the last). */
  static void requireId(String id) {
    requireNotEmpty("event id", id);
    requireSeedableId(id);
  }

  /** Like {@link #requireId}, but the empty id of a stream that has named none is fine, too. */
  static void requireSeedableId(String id) {
    requireOneLine("event id", id);
    if (id.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("event id holds NUL");
    }
  }

  /** A type: one line, not empty (it would read back as the default type). */
  static void requireType(String type) {
    requireNotEmpty("event type", type);
    requireOneLine("event type", type);
  }

  /** Text without a line end, which would start a field of its own. */
  static void requireOneLine(String what, String text) {
    boolean surrogates = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\r' || c == '\n') {
        throw new IllegalArgumentException(what + " holds CR or LF");
      }
      surrogates |= Character.isSurrogate(c);
    }
    if (surrogates && !UTF_8.newEncoder().canEncode(text)) {
      throw new IllegalArgumentException(what + " holds an unpaired surrogate");
    }
  }

  static void requireRetry(Duration retry) {
    if (retry.isNegative()) {
      throw new IllegalArgumentException("retry is negative");
    }
  }

  private static void requireNotEmpty(String what, String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException(what + " is empty");
    }
  }
}
