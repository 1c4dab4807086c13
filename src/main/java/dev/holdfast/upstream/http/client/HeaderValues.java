package dev.holdfast.upstream.http.client;

import java.nio.charset.StandardCharsets;

/** What may stand in a header. */
public final class HeaderValues {

  private HeaderValues() {}

  /** Whether it holds no control characters, which would end the header or be refused. */
  public static boolean isSendable(String value) {
    return value.chars().noneMatch(c -> c < ' ' || c == 0x7F);
  }

  /**
   * Whether it is made of visible ASCII characters only, as a session id must be (MCP 2025-11-25,
   * Transports, Session Management).
   */
  public static boolean isVisibleAscii(String value) {
    return !value.isEmpty() && value.chars().allMatch(c -> c >= 0x21 && c <= 0x7E);
  }

  /** Lets any text travel as UTF-8: the client writes one byte per character. */
  static String asUtf8(String value) {
    return new String(value.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }
}
