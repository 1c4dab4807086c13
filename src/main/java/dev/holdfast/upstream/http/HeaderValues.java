package dev.holdfast.upstream.http;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Rules for the values of HTTP headers. */
final class HeaderValues {

  private static final String BASE64 = "=?base64?";

  private HeaderValues() {}

  /**
   * Returns true if the value has no control characters: they would end or invalidate the header.
   */
  static boolean isSendable(String value) {
    return value.chars().noneMatch(c -> c < ' ' || c == 0x7F);
  }

  /**
   * Returns true if the value can be a session id (MCP 2025-11-25, Transports, Session Management).
   */
  static boolean isVisibleAscii(String value) {
    return !value.isEmpty() && value.chars().allMatch(c -> c >= 0x21 && c <= 0x7E);
  }

  /** Returns true if the value has only characters that every reader of headers takes. */
  static boolean isAscii(String value) {
    return value.chars().allMatch(c -> c >= ' ' && c <= '~');
  }

  /**
   * Returns a text as the value of a header of revision 2026-07-28: as it is, or in Base64 if a
   * reader of the header would not get the same text.
   */
  static String encode(String text) {
    boolean same = isAscii(text) && text.equals(text.strip()) && !text.startsWith(BASE64);
    return same
        ? text
        : BASE64 + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)) + "?=";
  }

  /** Returns the UTF-8 bytes of a text as characters: Vert.x writes one byte per character. */
  static String asUtf8(String value) {
    return new String(value.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }
}
