package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;

/** Rules for field values, so that a reader gets exactly the written value. */
final class FieldRules {

  private FieldRules() {}

  /** One line, no NUL (readers ignore such an id), not empty (it would erase the last id). */
  static void requireId(String id) {
    requireNotEmpty("event id", id);
    requireIdOrEmpty(id);
  }

  /** Like {@link #requireId}, but allows the empty id of a stream without ids. */
  static void requireIdOrEmpty(String id) {
    requireOneLine("event id", id);
    if (id.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("event id holds NUL");
    }
  }

  /** One line, not empty (it would read back as the default type). */
  static void requireType(String type) {
    requireNotEmpty("event type", type);
    requireOneLine("event type", type);
  }

  /** No line end: it would start another field. */
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
