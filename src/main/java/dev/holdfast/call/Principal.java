package dev.holdfast.call;

/**
 * Whom a session belongs to: a subject, and the issuer that knows it. Two issuers may use the same
 * name for different subjects.
 *
 * @param issuer without spaces; empty only for {@link #ANONYMOUS}
 * @param subject the issuer's name for who asks
 */
public record Principal(String issuer, String subject) {

  /**
   * Everybody, on a gateway without authentication. Sessions that such a gateway has opened belong
   * to it, and those of earlier versions.
   */
  public static final Principal ANONYMOUS = new Principal("", "");

  /**
   * @throws IllegalArgumentException when the issuer has a space
   */
  public Principal {
    if (issuer.indexOf(' ') >= 0) {
      throw new IllegalArgumentException("an issuer has no spaces");
    }
  }

  /** The text in a store: different for every two principals. */
  public String recorded() {
    return equals(ANONYMOUS) ? "" : issuer + " " + subject;
  }

  /** Reads the text in a store. */
  public static Principal parse(String recorded) {
    int space = recorded.indexOf(' ');
    return space < 0
        ? ANONYMOUS
        : new Principal(recorded.substring(0, space), recorded.substring(space + 1));
  }
}
