package dev.holdfast.oauth;

import dev.holdfast.oauth.Discovery.AuthorizationServer;
import dev.holdfast.oauth.Discovery.ProtectedResource;
import dev.holdfast.oauth.SavedTokens.Client;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.jboss.logging.Logger;
import org.jose4j.json.JsonUtil;

/**
 * Gets the first tokens for a server: for a person with a browser, by the authorization code flow
 * with PKCE (RFC 6749, section 4.1; RFC 7636; RFC 8252), or for this program by its own
 * credentials.
 */
final class SignIn {

  private static final Logger LOG = Logger.getLogger(SignIn.class);

  /** A scope that some servers require for refresh tokens. */
  private static final String OFFLINE = "offline_access";

  private final Vertx vertx;
  private final JsonHttp http;
  private final SignInSettings settings;
  private final InstantSource clock;

  SignIn(Vertx vertx, JsonHttp http, SignInSettings settings, InstantSource clock) {
    this.vertx = vertx;
    this.http = http;
    this.settings = settings;
    this.clock = clock;
  }

  /**
   * Gets tokens, and waits for the person if need be.
   *
   * @throws TokenException if the person or a server refuses, or does not answer
   */
  SavedTokens run(BearerChallenge challenge) throws InterruptedException {
    Discovery discovery = new Discovery(http, settings.server());
    ProtectedResource resource = discovery.resource(challenge);
    AuthorizationServer server = discovery.server(resource.issuer());
    String scope = scope(challenge, resource);
    String secret = settings.clientSecret();
    if (secret != null) {
      String id = Objects.requireNonNullElse(settings.clientId(), "");
      Map<String, String> form = new HashMap<>(Map.of("grant_type", "client_credentials"));
      if (!scope.isEmpty()) {
        form.put("scope", scope);
      }
      // Its own credentials get the next tokens.
      return new Client(id, secret, false)
          .tokens(http, server.token(), resource.name(), form, clock.instant())
          .withRefresh(null);
    }
    return askPerson(resource, server, scope);
  }

  /** In the order of MCP 2025-11-25, Authorization, Scope Selection Strategy. */
  private String scope(BearerChallenge challenge, ProtectedResource resource) {
    String configured = settings.scope();
    String asked = configured != null ? configured : challenge.scope();
    return asked != null ? asked : String.join(" ", resource.scopes());
  }

  private SavedTokens askPerson(
      ProtectedResource resource, AuthorizationServer server, String scope)
      throws InterruptedException {
    URI page = server.authorization();
    if (page == null || !server.pkce()) {
      throw new TokenException(
          server.issuer() + " does not offer sign-in with a code and PKCE (S256)");
    }
    String state = CodeRequest.random();
    try (LoopbackRedirect redirect = new LoopbackRedirect(vertx, state)) {
      Client client = client(server, redirect.uri());
      CodeRequest request =
          new CodeRequest(client.id(), redirect.uri(), state, CodeRequest.random());
      Map<String, String> more = new LinkedHashMap<>(Map.of("resource", resource.name()));
      String scopes = withOffline(scope, server);
      if (!scopes.isEmpty()) {
        more.put("scope", scopes);
      }
      URI url = request.page(page, more);
      LOG.warnf("sign in with a browser url=%s", url);
      if (settings.opensBrowser()) {
        Browser.open(url);
      }
      String code = code(redirect.await(settings.timeout()), server);
      Map<String, String> form = request.exchange(code);
      return client.tokens(http, server.token(), resource.name(), form, clock.instant());
    } catch (TimeoutException late) {
      throw new TokenException(
          "nobody has signed in within " + settings.timeout().toSeconds() + " s");
    } catch (IOException failure) {
      throw new TokenException("no port of 127.0.0.1 is free for the browser's answer");
    }
  }

  /** Some servers refuse it alone. */
  private static String withOffline(String scope, AuthorizationServer server) {
    return scope.isEmpty() || scope.contains(OFFLINE) || !server.scopes().contains(OFFLINE)
        ? scope
        : scope + " " + OFFLINE;
  }

  private static String code(Map<String, String> answer, AuthorizationServer server) {
    String issuer = answer.get("iss");
    // RFC 9207, section 2.4: an answer of another server would send the code to the wrong one.
    if (issuer == null ? server.namesItself() : !issuer.equals(server.issuer())) {
      throw new TokenException("the answer to the sign-in comes from another issuer");
    }
    String code = answer.get("code");
    if (code == null) {
      String error = answer.getOrDefault("error", "");
      throw new TokenException(
          "the sign-in was refused"
              + (TokenEndpoint.ERROR.matcher(error).matches() ? ": " + error : ""));
    }
    return code;
  }

  private Client client(AuthorizationServer server, URI redirect) {
    String configured = settings.clientId();
    if (configured != null) {
      return new Client(configured, null, false);
    }
    URI registration = server.registration();
    if (registration == null) {
      throw new TokenException(
          server.issuer() + " registers no clients: give the id of one with --client-id");
    }
    JsonHttp.Answer answer =
        http.post(registration, JsonHttp.JSON_TYPE, registrationOf(redirect), null);
    String id = answer.field("client_id");
    if ((answer.status() != 200 && answer.status() != 201) || id == null) {
      TokenException refusal = TokenEndpoint.refusal(answer);
      throw new TokenException("not registered: " + refusal.getMessage());
    }
    String method = answer.field("token_endpoint_auth_method");
    String secret = "none".equals(method) ? null : answer.field("client_secret");
    return new Client(id, secret, "client_secret_post".equals(method));
  }

  /** The metadata of this program (RFC 7591, section 2). */
  private static String registrationOf(URI redirect) {
    return JsonUtil.toJson(
        Map.of(
            "client_name",
            "Holdfast",
            "application_type",
            "native",
            "token_endpoint_auth_method",
            "none",
            "redirect_uris",
            List.of(redirect.toString()),
            "grant_types",
            List.of("authorization_code", "refresh_token"),
            "response_types",
            List.of("code")));
  }
}
