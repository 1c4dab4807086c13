package dev.holdfast.protocol;

/**
 * Who opens a session.
 *
 * @param client whose share the session takes: the principal or, without one, the network of the
 *     address; empty when unknown
 * @param address the network of the client's address; empty when unknown
 * @param userAgent its {@code User-Agent}, cut to {@value #MAX_USER_AGENT} characters; empty when
 *     unknown
 * @param sender the client
 */
public record Opener(String client, String address, String userAgent, Sender sender) {

  private static final int MAX_USER_AGENT = 200;

  /** An opener of which nothing is known. */
  public static final Opener UNKNOWN = new Opener("");

  /** Cuts the user agent, since it is stored with the session. */
  public Opener {
    userAgent = userAgent.substring(0, Math.min(userAgent.length(), MAX_USER_AGENT));
  }

  /** An opener of which only the network of its address is known. */
  public Opener(String network) {
    this(network, network, "", Sender.UNKNOWN);
  }

  /** This opener as another sender. */
  public Opener with(Sender other) {
    return new Opener(client, address, userAgent, other);
  }

  /** Headers of the client's request that go to the server. */
  public ForwardedHeaders headers() {
    return sender.headers();
  }
}
