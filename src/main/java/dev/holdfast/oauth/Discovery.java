package dev.holdfast.oauth;

import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the authorization server of an MCP server (RFC 9728, RFC 8414, OpenID Connect Discovery
 * 1.0; MCP 2025-11-25, Authorization).
 *
 * <p>The server and its metadata name the URLs. All must begin with {@code https}. A server on this
 * machine may name others on this machine, without TLS.
 */
final class Discovery {

  private static final String RESOURCE = "/.well-known/oauth-protected-resource";
  private static final String OAUTH = "/.well-known/oauth-authorization-server";
  private static final String OPENID = "/.well-known/openid-configuration";

  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[::1]", Pattern.CASE_INSENSITIVE);

  private final JsonHttp http;
  private final URI server;

  /**
   * A server that wants tokens.
   *
   * @param name for the {@code resource} parameter (RFC 8707)
   * @param issuer its authorization server
   * @param scopes those that it knows
   */
  record ProtectedResource(String name, String issuer, List<String> scopes) {}

  /**
   * Metadata of an authorization server.
   *
   * @param authorization for people; null if it serves only machines
   * @param registration registers clients; null if it does not
   * @param namesItself whether it names itself in its answers (RFC 9207)
   * @param pkce whether it checks code verifiers (RFC 7636) by SHA-256
   * @param scopes those that it knows
   */
  record AuthorizationServer(
      String issuer,
      @Nullable URI authorization,
      URI token,
      @Nullable URI registration,
      boolean namesItself,
      boolean pkce,
      List<String> scopes) {}

  /** For a server by the URL of its endpoint. */
  Discovery(JsonHttp http, URI server) {
    this.http = http;
    this.server = server;
  }

  /**
   * Finds the authorization server. One without metadata is at the root of the server, as in MCP
   * 2025-03-26.
   *
   * @throws TokenException if the metadata is not valid for the server, or cannot be read
   */
  ProtectedResource resource(BearerChallenge challenge) {
    checked("the URL of the server", server.toString());
    String named = challenge.metadata();
    if (named != null) {
      URI url = checked("resource_metadata", named);
      JsonHttp.Answer answer = http.get(url);
      if (answer.status() != 200) {
        throw unreadable(url, answer);
      }
      return resource(url, answer);
    }
    String path = server.getRawPath().replaceAll("/$", "");
    for (String each : path.isEmpty() ? List.of(RESOURCE) : List.of(RESOURCE + path, RESOURCE)) {
      URI url = server.resolve(each);
      JsonHttp.Answer answer = http.get(url);
      if (answer.status() == 200) {
        return resource(url, answer);
      }
      if (answer.status() >= 500) {
        throw unreadable(url, answer);
      }
    }
    String root = server.getScheme() + "://" + server.getRawAuthority();
    return new ProtectedResource(root + server.getRawPath(), root, List.of());
  }

  private ProtectedResource resource(URI url, JsonHttp.Answer answer) {
    String name = Objects.requireNonNullElse(answer.field("resource"), "");
    if (!covers(name)) {
      throw new TokenException(url + " is the metadata of another server");
    }
    List<String> issuers = answer.fields().getOrDefault("authorization_servers", List.of());
    if (issuers.isEmpty()) {
      throw new TokenException(url + " names no authorization server");
    }
    List<String> scopes = answer.fields().getOrDefault("scopes_supported", List.of());
    return new ProtectedResource(name, issuers.getFirst(), scopes);
  }

  /** Whether a resource is the server, or above it: a token for it is meant for the server. */
  private boolean covers(String name) {
    try {
      URI resource = URI.create(name);
      String path =
          Objects.requireNonNullElse(resource.getRawPath(), "").replaceAll("/$", "") + "/";
      return Objects.equals(origin(resource), origin(server))
          && resource.getRawFragment() == null
          && (server.getRawPath() + "/").startsWith(path);
    } catch (IllegalArgumentException malformed) {
      return false;
    }
  }

  private static String origin(URI url) {
    String scheme = String.valueOf(url.getScheme()).toLowerCase(Locale.ROOT);
    String host = String.valueOf(url.getHost()).toLowerCase(Locale.ROOT);
    return scheme + "://" + host + ":" + JsonHttp.port(url);
  }

  /**
   * Reads the metadata of an authorization server.
   *
   * @throws TokenException if there is none with this name, or it cannot be read
   */
  AuthorizationServer server(String issuer) {
    URI url = checked("the authorization server", issuer);
    String path = url.getRawPath().replaceAll("/$", "");
    List<String> places =
        path.isEmpty()
            ? List.of(OAUTH, OPENID)
            : List.of(OAUTH + path, OPENID + path, path + OPENID);
    TokenException failure = null;
    for (String place : places) {
      URI metadata = url.resolve(place);
      JsonHttp.Answer answer = http.get(metadata);
      if (answer.status() == 200) {
        return server(issuer, metadata, answer);
      }
      if (failure == null || !failure.isRefused()) {
        failure = unreadable(metadata, answer);
      }
    }
    throw Objects.requireNonNull(failure);
  }

  private AuthorizationServer server(String issuer, URI metadata, JsonHttp.Answer answer) {
    String name = Objects.requireNonNullElse(answer.field("issuer"), "");
    // Tools differ in whether they write a slash at the end.
    if (!name.replaceAll("/$", "").equals(issuer.replaceAll("/$", ""))) {
      throw new TokenException(metadata + " is the metadata of another issuer");
    }
    URI token = endpoint(answer, "token_endpoint");
    if (token == null) {
      throw new TokenException(metadata + " has no token_endpoint");
    }
    return new AuthorizationServer(
        name,
        endpoint(answer, "authorization_endpoint"),
        token,
        endpoint(answer, "registration_endpoint"),
        "true".equals(answer.field("authorization_response_iss_parameter_supported")),
        answer
            .fields()
            .getOrDefault("code_challenge_methods_supported", List.of())
            .contains("S256"),
        answer.fields().getOrDefault("scopes_supported", List.of()));
  }

  private @Nullable URI endpoint(JsonHttp.Answer answer, String name) {
    String url = answer.field(name);
    return url == null ? null : checked(name, url);
  }

  private static TokenException unreadable(URI url, JsonHttp.Answer answer) {
    String text = url + " cannot be read: status " + answer.status();
    return answer.status() >= 500 ? new TokenException(text, null) : new TokenException(text);
  }

  /** Returns a URL that a secret may go to. */
  private URI checked(String what, String text) {
    URI url;
    try {
      url = URI.create(text);
    } catch (IllegalArgumentException malformed) {
      throw new TokenException(what + " is not a URL");
    }
    String host = url.getHost();
    boolean local = host != null && isLoopback(host) && isLoopback(server.getHost());
    boolean safe = "https".equalsIgnoreCase(url.getScheme());
    boolean http = "http".equalsIgnoreCase(url.getScheme());
    if (host == null
        || url.getRawUserInfo() != null
        || url.getRawFragment() != null
        || !(safe || (http && local))) {
      throw new TokenException(what + " must begin with https:// and have no user, not be " + url);
    }
    return url;
  }

  private static boolean isLoopback(String host) {
    return LOOPBACK.matcher(host).matches();
  }
}
