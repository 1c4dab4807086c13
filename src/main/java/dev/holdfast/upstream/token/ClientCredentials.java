package dev.holdfast.upstream.token;

import dev.holdfast.oauth.CachedToken;
import dev.holdfast.upstream.http.Caller;
import dev.holdfast.upstream.http.Credentials;
import java.util.Map;

/** Access tokens that the gateway gets with its own credentials (RFC 6749, section 4.4). */
public final class ClientCredentials implements Credentials {

  private final UpstreamTokens tokens;
  private final CachedToken token;

  /** Gets tokens from the endpoint of these. */
  public ClientCredentials(UpstreamTokens tokens) {
    this.tokens = tokens;
    token = tokens.token(Map.of("grant_type", "client_credentials"));
  }

  @Override
  public String authorization(Caller caller, boolean asked) {
    return tokens.authorization(token);
  }

  @Override
  public void refused(Caller caller, String authorization) {
    token.forget(UpstreamTokens.tokenIn(authorization));
  }

  @Override
  public void close() {
    tokens.close();
  }
}
