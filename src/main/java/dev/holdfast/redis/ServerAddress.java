package dev.holdfast.redis;

import java.net.URI;

/**
 * Host and port of one server of a cluster.
 *
 * @param host a name or an address; an IPv6 address in brackets
 */
record ServerAddress(String host, int port) {

  private static final int DEFAULT_PORT = 6379;

  static ServerAddress of(URI url) {
    return new ServerAddress(url.getHost(), url.getPort() < 0 ? DEFAULT_PORT : url.getPort());
  }

  /**
   * An address as servers of a cluster report it.
   *
   * @param host without brackets; empty for the host of the reporting server
   */
  static ServerAddress reportedAs(String host, int port, ServerAddress reporter) {
    if (host.isEmpty()) {
      return new ServerAddress(reporter.host, port);
    }
    return new ServerAddress(host.indexOf(':') < 0 ? host : '[' + host + ']', port);
  }

  String urlLike(URI url) {
    String user = url.getRawUserInfo() == null ? "" : url.getRawUserInfo() + '@';
    String query = url.getRawQuery() == null ? "" : '?' + url.getRawQuery();
    return url.getScheme() + "://" + user + this + query;
  }

  @Override
  public String toString() {
    return host + ':' + port;
  }
}
