package dev.holdfast.http;

/** Resolves the client address of the current request. */
@FunctionalInterface
public interface ClientAddressResolver {

  /**
   * Returns the client address of the calling thread's request: that of the socket, or the one that
   * a trusted proxy names ({@code quarkus.http.proxy.*}). A proxy may send any text, so the result
   * may be no IP address.
   */
  String current();
}
