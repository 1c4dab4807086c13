package dev.holdfast.http.origin;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.spi.Converter;

/** Allowed web pages and host names, and time limits for requests. */
@ConfigMapping(prefix = "holdfast.http")
public interface HttpConfig {

  /**
   * Origins whose pages may use the gateway: a host ({@code app.example.com}), a whole origin
   * ({@code https://app.example.com:8443}) or {@code *}. {@code localhost} includes the loopback
   * addresses.
   */
  @WithDefault("localhost")
  List<@WithConverter(AllowListEntry.Origin.class) String> allowedOrigins();

  /**
   * The host names under which clients may reach the gateway, without ports, or {@code *}. {@code
   * localhost} includes the loopback addresses. Other names are refused. Otherwise a page could
   * reach a local gateway under the page's own host name (DNS rebinding).
   */
  @WithDefault("localhost")
  List<@WithConverter(AllowListEntry.Host.class) String> allowedHosts();

  /** Returns true if clients may use the older HTTP with SSE. Otherwise, {@code /sse} is a 404. */
  @WithDefault("true")
  boolean sse();

  /**
   * Returns true if clients must show a certificate that the TLS configuration of the server
   * trusts. The port without TLS must be off then.
   */
  @WithDefault("false")
  boolean requireClientCertificate();

  /**
   * Time limit for receiving a request body; 100 ms to an hour. After it, the gateway answers 408
   * and closes the connection.
   */
  @WithDefault("60s")
  @Range(min = "100ms", max = "1h")
  Duration bodyTimeout();

  /**
   * Time limit for the head of a request, from its first byte or from the start of the connection;
   * 100 ms to an hour. After it, the gateway closes the connection.
   */
  @WithDefault("30s")
  @Range(min = "100ms", max = "1h")
  Duration headTimeout();

  /**
   * Reads the entries of the allow lists. The configuration refuses a malformed entry, which would
   * match nothing and cause unexplained 403s.
   */
  final class AllowListEntry {

    private static final String HOST = "(?:[a-z0-9_.-]+|\\[[0-9a-f:.]+\\])";
    private static final Pattern HOST_OR_ANY = Pattern.compile(HOST + "|\\*");
    private static final Pattern ORIGIN =
        Pattern.compile("[a-z][a-z0-9+.-]*://" + HOST + "(?::\\d{1,5})?");

    /** Browsers leave these ports out of an origin (RFC 6454, section 6.2). */
    private static final Pattern DEFAULT_PORT = Pattern.compile("http:.*:80|https:.*:443");

    private AllowListEntry() {}

    private static String normalize(String text) {
      return text.strip().toLowerCase(Locale.ROOT);
    }

    private static boolean isOrigin(String text) {
      return ORIGIN.matcher(text).matches() && !DEFAULT_PORT.matcher(text).matches();
    }

    private static String require(boolean valid, String expected, String entry) {
      if (!valid) {
        throw new IllegalArgumentException("must be " + expected + ", or *, not " + entry);
      }
      return entry;
    }

    /** Reads a host, or {@code *}, in lower case. */
    public static final class Host implements Converter<String> {
      @Override
      public String convert(String text) {
        String host = normalize(text);
        return require(
            HOST_OR_ANY.matcher(host).matches(),
            "a host without port, such as mcp.example.com or [::1]",
            host);
      }
    }

    /** Reads a host, an origin, or {@code *}, in lower case. */
    public static final class Origin implements Converter<String> {
      @Override
      public String convert(String text) {
        String origin = normalize(text);
        return require(
            isOrigin(origin) || HOST_OR_ANY.matcher(origin).matches(),
            "a host, an origin such as https://app.example.com:8443 (no path, no default port)",
            origin);
      }
    }
  }
}
