package dev.holdfast.http;

/** Resolves from which address the current request comes. */
@FunctionalInterface
public interface ClientAddressResolver {

  /**
   * Returns the client address of the calling thread's request: that of the socket, or the one that
   * a proxy names if {@code quarkus.http.proxy.*} trusts it. Not always an IP address, since a
   * proxy may send any text.
   */
  String current();
}
