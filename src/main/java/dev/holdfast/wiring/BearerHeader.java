package dev.holdfast.wiring;

/** Values of {@code Authorization} with an access token (RFC 6750, section 2.1). */
final class BearerHeader {

  private static final String SCHEME = "Bearer ";

  private BearerHeader() {}

  static String of(String token) {
    return SCHEME + token;
  }

  /** Returns the token in a value of {@link #of}. */
  static String token(String header) {
    return header.substring(SCHEME.length());
  }
}
