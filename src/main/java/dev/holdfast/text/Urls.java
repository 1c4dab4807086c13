package dev.holdfast.text;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.stream.Stream;

/** Parts of absolute HTTP URLs. */
public final class Urls {

  private static final int HTTP = 80;
  private static final int HTTPS = 443;

  private Urls() {}

  /** Returns true if a URL begins with {@code https}. */
  public static boolean isHttps(URI url) {
    return "https".equalsIgnoreCase(url.getScheme());
  }

  /** Returns the port of a URL, or the default one of its scheme. */
  public static int port(URI url) {
    return url.getPort() >= 0 ? url.getPort() : isHttps(url) ? HTTPS : HTTP;
  }

  /** Returns the host without the brackets of an IPv6 address, which connections must not have. */
  public static String host(URI url) {
    String host = url.getHost();
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  /** Returns the path and the query of a URL as a request names them (RFC 9112, section 3.2.1). */
  public static String target(URI url) {
    String path = url.getRawPath().isEmpty() ? "/" : url.getRawPath();
    return url.getRawQuery() == null ? path : path + "?" + url.getRawQuery();
  }

  /** Returns whether only programs of this machine reach a server on a host. */
  public static boolean isLoopback(String host) {
    try {
      return Stream.of(InetAddress.getAllByName(host)).allMatch(InetAddress::isLoopbackAddress);
    } catch (UnknownHostException unknown) {
      return false;
    }
  }

  /** Returns scheme, host and port in one form, so that equal origins are equal texts. */
  public static String origin(URI url) {
    return (url.getScheme() + "://" + url.getHost()).toLowerCase(Locale.ROOT) + ":" + port(url);
  }
}
