package dev.holdfast.upstream.token;

import dev.holdfast.budget.LogRate;
import dev.holdfast.call.ClientTokens;
import dev.holdfast.lock.LruMap;
import dev.holdfast.oauth.CachedToken;
import dev.holdfast.oauth.TokenEndpoint;
import dev.holdfast.oauth.TokenException;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.http.ClientSession;
import dev.holdfast.upstream.http.ClientTls;
import dev.holdfast.upstream.http.Credentials;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Access tokens that the gateway gets from a token endpoint: with its own credentials (RFC 6749,
 * section 4.4), or in exchange for those of clients, to act on their behalf (RFC 8693).
 * Thread-safe.
 */
public final class UpstreamTokens implements Credentials {

  /** Tokens of clients whose exchanged tokens are kept. */
  public static final int MAX_TOKENS = 1000;

  private static final Logger LOG = Logger.getLogger(UpstreamTokens.class);
  private static final int FORBIDDEN = 403;

  private final String upstream;
  private final TokenEndpoint endpoint;
  private final Map<String, String> parameters;
  private final @Nullable ClientTokens exchanged;
  private final Runnable endRenewals;
  private final LogRate rate = new LogRate(Duration.ofSeconds(10));

  /** By the token of the client; the empty one stands for none. */
  private final Map<String, CachedToken> tokens = LruMap.create(MAX_TOKENS);

  /**
   * Gets tokens from an endpoint, which {@link #close} closes.
   *
   * @param upstream name of the upstream in log messages
   * @param tls renewed certificates of the endpoint; null for none
   * @param parameters parameters of each request, besides those of the grant
   * @param exchanged the tokens of clients that are exchanged; null for the gateway's credentials
   */
  public UpstreamTokens(
      String upstream,
      TokenEndpoint endpoint,
      @Nullable ClientTls tls,
      Map<String, String> parameters,
      @Nullable ClientTokens exchanged) {
    this.upstream = upstream;
    this.endpoint = endpoint;
    this.parameters = Map.copyOf(parameters);
    this.exchanged = exchanged;
    endRenewals = tls == null ? () -> {} : tls.onRenewal(endpoint::renew);
  }

  /** A token that is requested when it is first used. */
  private CachedToken newToken(String subject) {
    Map<String, String> form = new HashMap<>(parameters);
    form.putAll(
        subject.isEmpty()
            ? Map.of("grant_type", "client_credentials")
            : Map.of(
                "grant_type", "urn:ietf:params:oauth:grant-type:token-exchange",
                "subject_token", subject,
                "subject_token_type", "urn:ietf:params:oauth:token-type:access_token"));
    return new CachedToken(() -> endpoint.request(form), System::nanoTime);
  }

  /**
   * {@inheritDoc}
   *
   * @throws UpstreamException.Refused if the authorization server gives none for this client
   */
  @Override
  public String authorization(ClientSession caller, boolean asked) {
    String subject = exchanged == null ? "" : PassedTokens.of(caller, asked, exchanged).value();
    try {
      return PassedTokens.header(tokens.computeIfAbsent(subject, this::newToken).get().value());
    } catch (TokenException failure) {
      rate.log(
          LOG,
          Logger.Level.WARN,
          () ->
              "no access token for the upstream upstream=%s reason=%s"
                  .formatted(upstream, failure.getMessage()));
      throw failure.isAboutSubject()
          ? new UpstreamException.Refused(FORBIDDEN, null, null, List.of("authorization"), null)
          : new UpstreamException.Unreachable(failure);
    }
  }

  @Override
  public boolean refused(
      ClientSession caller, @Nullable String authorization, List<String> challenges) {
    if (authorization != null) {
      String token = PassedTokens.tokenIn(authorization);
      List.copyOf(tokens.values()).forEach(each -> each.forget(token));
    }
    return false;
  }

  @Override
  public boolean needClientToken() {
    return exchanged != null;
  }

  @Override
  public void close() {
    endRenewals.run();
    endpoint.close();
  }
}
