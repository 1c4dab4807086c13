package dev.holdfast.upstream.token;

import dev.holdfast.auth.ClientTokens;
import dev.holdfast.lock.LruMap;
import dev.holdfast.oauth.CachedToken;
import dev.holdfast.protocol.ClientToken;
import dev.holdfast.upstream.http.Caller;
import dev.holdfast.upstream.http.Credentials;
import java.util.List;
import java.util.Map;

/**
 * Access tokens that the gateway gets in exchange for those of clients, to act on their behalf (RFC
 * 8693).
 */
public final class ExchangedTokens implements Credentials {

  /** Tokens of clients whose exchanged tokens are kept. */
  public static final int MAX_TOKENS = 1000;

  private final UpstreamTokens tokens;
  private final ClientTokens clientTokens;

  /** By the token of the client. */
  private final Map<String, CachedToken> exchanged = LruMap.create(MAX_TOKENS);

  /** Exchanges the tokens that clients have shown. */
  public ExchangedTokens(UpstreamTokens tokens, ClientTokens clientTokens) {
    this.tokens = tokens;
    this.clientTokens = clientTokens;
  }

  private CachedToken exchange(String subject) {
    return tokens.token(
        Map.of(
            "grant_type", "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token", subject,
            "subject_token_type", "urn:ietf:params:oauth:token-type:access_token"));
  }

  @Override
  public String authorization(Caller caller, boolean asked) {
    ClientToken subject = PassedTokens.of(caller, asked, clientTokens);
    return tokens.authorization(exchanged.computeIfAbsent(subject.value(), this::exchange));
  }

  @Override
  public void refused(Caller caller, String authorization) {
    String token = UpstreamTokens.tokenIn(authorization);
    List.copyOf(exchanged.values()).forEach(each -> each.forget(token));
  }

  @Override
  public boolean needClientToken() {
    return true;
  }

  @Override
  public void close() {
    tokens.close();
  }
}
