package dev.holdfast.protocol;

/**
 * Who opens a session.
 *
 * @param network the network of the client's address; empty when unknown
 * @param headers headers of the client's request that go to the server
 */
public record Opener(String network, ForwardedHeaders headers) {

  /** An opener of which nothing is known. */
  public static final Opener UNKNOWN = new Opener("");

  /** An opener without headers. */
  public Opener(String network) {
    this(network, ForwardedHeaders.NONE);
  }
}
