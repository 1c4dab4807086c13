package dev.holdfast.wiring;

import dev.holdfast.budget.LogRate;
import dev.holdfast.oauth.CachedToken;
import dev.holdfast.oauth.TokenEndpoint;
import dev.holdfast.oauth.TokenException;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.http.ClientTls;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jboss.logging.Logger;

/** Gets the access tokens for one upstream, as its configuration says. Thread-safe. */
final class UpstreamTokens implements AutoCloseable {

  private static final Logger LOG = Logger.getLogger(UpstreamTokens.class);
  private static final int FORBIDDEN = 403;

  private final String upstream;
  private final GatewayConfig.Token settings;
  private final TokenEndpoint endpoint;
  private final Runnable endRenewals;
  private final LogRate rate = new LogRate(Duration.ofSeconds(10));

  /**
   * Connects on demand.
   *
   * @param tls finds a TLS configuration by its name
   */
  UpstreamTokens(
      Vertx vertx, String upstream, GatewayConfig.Server server, Function<String, ClientTls> tls) {
    this.upstream = upstream;
    settings = server.token();
    Optional<ClientTls> certificates = settings.tls().map(tls);
    endpoint =
        new TokenEndpoint(
            vertx,
            settings.endpoint().orElseThrow(),
            settings.clientId().orElseThrow(),
            settings.clientSecret().orElseThrow(),
            server.connectTimeout(),
            options -> certificates.ifPresent(found -> found.configure(options)));
    endRenewals = certificates.map(found -> found.onRenewal(endpoint::renew)).orElse(() -> {});
  }

  /**
   * A token that is requested when it is first used.
   *
   * @param grant the parameters of the grant, besides those of the configuration
   */
  CachedToken token(Map<String, String> grant) {
    Map<String, String> form = new HashMap<>(grant);
    settings.scope().ifPresent(scope -> form.put("scope", scope));
    settings.resource().ifPresent(resource -> form.put("resource", resource));
    settings.audience().ifPresent(audience -> form.put("audience", audience));
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
      return BearerHeader.of(token.get().value());
    } catch (TokenException failure) {
      rate.log(
          LOG,
          Logger.Level.WARN,
          () ->
              "no access token for the upstream upstream="
                  + upstream
                  + " reason="
                  + failure.getMessage());
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
