package dev.holdfast.http;

/**
 * Tells from where the request of the calling thread comes: by its socket or, where {@code
 * quarkus.http.proxy.*} says that a proxy is to be trusted with it, by the header of that proxy.
 */
@FunctionalInterface
public interface ClientAddresses {

  /** The address as text; not always an IP address, since a proxy may name anything. */
  String current();
}
