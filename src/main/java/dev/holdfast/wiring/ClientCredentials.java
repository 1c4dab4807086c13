package dev.holdfast.wiring;

import dev.holdfast.budget.LogRate;
import dev.holdfast.oauth.CachedToken;
import dev.holdfast.oauth.TokenEndpoint;
import dev.holdfast.oauth.TokenException;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.http.Credentials;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jboss.logging.Logger;

/** Access tokens that the gateway gets with its own credentials (RFC 6749, section 4.4). */
final class ClientCredentials implements Credentials {

  private static final Logger LOG = Logger.getLogger(ClientCredentials.class);
  private static final String BEARER = "Bearer ";

  private final String upstream;
  private final TokenEndpoint endpoint;
  private final CachedToken token;
  private final LogRate rate = new LogRate(Duration.ofSeconds(10));

  ClientCredentials(Vertx vertx, String upstream, GatewayConfig.Server server) {
    this.upstream = upstream;
    GatewayConfig.Token settings = server.token();
    endpoint =
        new TokenEndpoint(
            vertx,
            settings.endpoint().orElseThrow(),
            settings.clientId().orElseThrow(),
            settings.clientSecret().orElseThrow(),
            server.connectTimeout());
    Map<String, String> form = new HashMap<>(Map.of("grant_type", "client_credentials"));
    settings.scope().ifPresent(scope -> form.put("scope", scope));
    settings.resource().ifPresent(resource -> form.put("resource", resource));
    token = new CachedToken(() -> endpoint.request(form), System::nanoTime);
  }

  @Override
  public String authorization() {
    try {
      return BEARER + token.get().value();
    } catch (TokenException failure) {
      rate.log(
          LOG,
          Logger.Level.WARN,
          () ->
              "no access token for the upstream upstream="
                  + upstream
                  + " reason="
                  + failure.getMessage());
      throw new UpstreamException.Unreachable(failure);
    }
  }

  @Override
  public void refused(String authorization) {
    token.forget(authorization.substring(BEARER.length()));
  }

  @Override
  public void close() {
    endpoint.close();
  }
}
