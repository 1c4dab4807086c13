package dev.holdfast.http;

import java.util.Locale;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.spi.Converter;

/**
 * What may stand in the lists of those who are allowed. Anything else would never match, and
 * whoever wrote it would look for the reason of a 403 in vain.
 */
final class AllowedName {

  private static final String ANY = "*";
  private static final String HOST = "(?:[a-z0-9_.-]+|\\[[0-9a-f:.]+\\])";
  private static final Pattern NAME = Pattern.compile(HOST);
  private static final Pattern ORIGIN =
      Pattern.compile("[a-z][a-z0-9+.-]*://" + HOST + "(?::\\d{1,5})?");

  /** What a browser leaves out of an origin (RFC 6454, section 6.2). */
  private static final Pattern DEFAULT_PORT = Pattern.compile("http:.*:80|https:.*:443");

  private AllowedName() {}

  private static String lowered(String text) {
    return text.strip().toLowerCase(Locale.ROOT);
  }

  /** Reads a host, or {@code *}. Named by the mapping, as {@link MessageBytes.FromText} is. */
  public static final class Host implements Converter<String> {

    /**
     * @throws IllegalArgumentException when it is none
     */
    @Override
    public String convert(String text) {
      String host = lowered(text);
      if (host.equals(ANY) || NAME.matcher(host).matches()) {
        return host;
      }
      throw new IllegalArgumentException(
          "must be a host without port, such as mcp.example.com or [::1], or *, not " + host);
    }
  }

  /** Reads a host, an origin, or {@code *}. */
  public static final class Origin implements Converter<String> {

    /**
     * @throws IllegalArgumentException when it is none
     */
    @Override
    public String convert(String text) {
      String origin = lowered(text);
      boolean whole = ORIGIN.matcher(origin).matches() && !DEFAULT_PORT.matcher(origin).matches();
      if (whole || origin.equals(ANY) || NAME.matcher(origin).matches()) {
        return origin;
      }
      throw new IllegalArgumentException(
          "must be a host, an origin such as https://app.example.com:8443 (no path, no port that"
              + " goes without saying), or *, not "
              + origin);
    }
  }
}
