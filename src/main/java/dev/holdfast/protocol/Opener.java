package dev.holdfast.protocol;

/**
 * Who opens a session.
 *
 * @param network the network of the client's address; empty when unknown
 * @param sender the client
 */
public record Opener(String network, Sender sender) {

  /** An opener of which nothing is known. */
  public static final Opener UNKNOWN = new Opener("");

  /** An opener of which only the network is known. */
  public Opener(String network) {
    this(network, Sender.UNKNOWN);
  }

  /** Headers of the client's request that go to the server. */
  public ForwardedHeaders headers() {
    return sender.headers();
  }
}
