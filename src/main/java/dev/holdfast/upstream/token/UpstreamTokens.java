package dev.holdfast.upstream.token;

import dev.holdfast.budget.LogRate;
import dev.holdfast.oauth.CachedToken;
import dev.holdfast.oauth.TokenEndpoint;
import dev.holdfast.oauth.TokenException;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.http.ClientTls;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Gets the access tokens for one upstream. Thread-safe. */
public final class UpstreamTokens implements AutoCloseable {

  private static final Logger LOG = Logger.getLogger(UpstreamTokens.class);
  private static final int FORBIDDEN = 403;

  /** RFC 6750, section 2.1. */
  private static final String SCHEME = "Bearer ";

  private final String upstream;
  private final TokenEndpoint endpoint;
  private final Map<String, String> parameters;
  private final Runnable endRenewals;
  private final LogRate rate = new LogRate(Duration.ofSeconds(10));

  /**
   * Gets tokens from an endpoint, which {@link #close} closes.
   *
   * @param upstream name of the upstream in log messages
   * @param tls renewed certificates of the endpoint; null for none
   * @param parameters parameters of each request, besides those of the grant
   */
  public UpstreamTokens(
      String upstream,
      TokenEndpoint endpoint,
      @Nullable ClientTls tls,
      Map<String, String> parameters) {
    this.upstream = upstream;
    this.endpoint = endpoint;
    this.parameters = Map.copyOf(parameters);
    endRenewals = tls == null ? () -> {} : tls.onRenewal(endpoint::renew);
  }

  /** Returns the value of {@code Authorization} with a token. */
  static String header(String token) {
    return SCHEME + token;
  }

  /** Returns the token in a value of {@link #header}. */
  static String tokenIn(String header) {
    return header.substring(SCHEME.length());
  }

  /**
   * A token that is requested when it is first used.
   *
   * @param grant parameters of the grant
   */
  CachedToken token(Map<String, String> grant) {
    Map<String, String> form = new HashMap<>(parameters);
    form.putAll(grant);
    return new CachedToken(() -> endpoint.request(form), System::nanoTime);
  }

  /**
   * Returns the value of {@code Authorization} with a token.
   *
   * @throws UpstreamException.Refused if the authorization server gives none for this client
   * @throws UpstreamException.Unreachable if it gives none at all
   */
  String authorization(CachedToken token) {
    try {
      return header(token.get().value());
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
  public void close() {
    endRenewals.run();
    endpoint.close();
  }
}
