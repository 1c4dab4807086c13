package dev.holdfast.upstream.http;

import dev.holdfast.call.ClientToken;
import dev.holdfast.upstream.UpstreamLink;
import org.jspecify.annotations.Nullable;

/**
 * The client whose requests go to a server. Thread-safe: a connection that carries a whole session
 * learns of each new token.
 */
public final class ClientSession {

  /** Of servers that do not get the tokens of clients. */
  static final ClientSession UNKNOWN = new ClientSession();

  private volatile @Nullable String session;
  private volatile @Nullable ClientToken token;

  private ClientSession() {}

  /** The client of a session, or of one that is being opened. */
  static ClientSession of(UpstreamLink link) {
    ClientSession caller = new ClientSession();
    caller.uses(link);
    return caller;
  }

  /** Takes on the id of the session and the newest token. */
  void uses(UpstreamLink link) {
    if (link.gatewaySession() != null) {
      session = link.gatewaySession();
    }
    if (link.sender().token() != null) {
      token = link.sender().token();
    }
  }

  /** The gateway's id of the session; null before the gateway has recorded it. */
  public @Nullable String session() {
    return session;
  }

  /** The token of the request that is sent; null if the gateway sends it by itself. */
  public @Nullable ClientToken token() {
    return token;
  }
}
