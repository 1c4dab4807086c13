package dev.holdfast.redis;

import java.net.URI;

/**
 * Where one server of a cluster is.
 *
 * @param host a name or an address; of IPv6 in brackets
 */
record RedisAddress(String host, int port) {

  private static final int DEFAULT_PORT = 6379;

  /** Of a URL. */
  static RedisAddress of(URI url) {
    return new RedisAddress(url.getHost(), url.getPort() < 0 ? DEFAULT_PORT : url.getPort());
  }

  /**
   * As servers name each other.
   *
   * @param host without brackets; empty for that of the one who tells
   */
  static RedisAddress named(String host, int port, RedisAddress teller) {
    if (host.isEmpty()) {
      return new RedisAddress(teller.host, port);
    }
    return new RedisAddress(host.indexOf(':') < 0 ? host : '[' + host + ']', port);
  }

  /** A URL that differs from the given one in nothing but the server. */
  String like(URI url) {
    String user = url.getRawUserInfo() == null ? "" : url.getRawUserInfo() + '@';
    String query = url.getRawQuery() == null ? "" : '?' + url.getRawQuery();
    return url.getScheme() + "://" + user + this + query;
  }

  @Override
  public String toString() {
    return host + ':' + port;
  }
}
