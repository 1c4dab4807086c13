package dev.holdfast.protocol;

/**
 * Who opens a session.
 *
 * @param client whose share the session takes: the principal or, without one, the network of the
 *     address; empty when unknown
 * @param address the network of the client's address; empty when unknown
 * @param sender the client
 */
public record Opener(String client, String address, Sender sender) {

  /** An opener of which nothing is known. */
  public static final Opener UNKNOWN = new Opener("");

  /** An opener of which only the network of its address is known. */
  public Opener(String network) {
    this(network, network, Sender.UNKNOWN);
  }

  /** This opener as another sender. */
  public Opener with(Sender other) {
    return new Opener(client, address, other);
  }

  /** Headers of the client's request that go to the server. */
  public ForwardedHeaders headers() {
    return sender.headers();
  }
}
