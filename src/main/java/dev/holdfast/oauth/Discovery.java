package dev.holdfast.oauth;

import dev.holdfast.text.Urls;
import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the authorization server of an MCP server (RFC 9728, RFC 8414, OpenID Connect Discovery
 * 1.0; MCP 2025-11-25, Authorization).
 *
 * <p>The server and its metadata name the URLs. All pass {@link JsonHttp#url}.
 */
final class Discovery {

  private static final String RESOURCE = "/.well-known/oauth-protected-resource";

  private final JsonHttp http;
  private final URI server;

  /**
   * A server that wants tokens.
   *
   * @param name for the {@code resource} parameter (RFC 8707)
   */
  record ProtectedResource(String name, String issuer, List<String> scopes) {}

  /**
   * Metadata of an authorization server.
   *
   * @param authorization for people; null if it serves only machines
   * @param registration registers clients; null if it does not
   * @param namesItself whether it names itself in its answers (RFC 9207)
   * @param pkce whether it checks code verifiers (RFC 7636) by SHA-256
   */
  record AuthorizationServer(
      String issuer,
      @Nullable URI authorization,
      URI token,
      @Nullable URI registration,
      boolean namesItself,
      boolean pkce,
      List<String> scopes) {}

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
    String path = ServerMetadata.withoutSlash(server.getRawPath());
    List<URI> places =
        named != null
            ? List.of(checked("resource_metadata", named))
            : Stream.of(RESOURCE + path, RESOURCE).distinct().map(server::resolve).toList();
    for (URI url : places) {
      JsonHttp.Answer answer = http.get(url);
      if (answer.status() == 200) {
        return resource(url, answer);
      }
      if (named != null || answer.status() >= 500) {
        throw answer.unreadable(url);
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
    List<String> issuers = answer.list("authorization_servers");
    if (issuers.isEmpty()) {
      throw new TokenException(url + " names no authorization server");
    }
    return new ProtectedResource(name, issuers.getFirst(), answer.list("scopes_supported"));
  }

  /**
   * Returns true if a resource is the server, or above it: a token for it is meant for the server.
   */
  private boolean covers(String name) {
    try {
      URI resource = URI.create(name);
      String path =
          ServerMetadata.withoutSlash(Objects.requireNonNullElse(resource.getRawPath(), "")) + "/";
      return Urls.origin(resource).equals(Urls.origin(server))
          && resource.getRawFragment() == null
          && (server.getRawPath() + "/").startsWith(path);
    } catch (IllegalArgumentException malformed) {
      return false;
    }
  }

  /**
   * Reads the metadata of an authorization server.
   *
   * @throws TokenException if there is none with this name, or it cannot be read
   */
  AuthorizationServer server(String issuer) {
    URI url = checked("the authorization server", issuer);
    String required = "token_endpoint";
    JsonHttp.Answer answer =
        ServerMetadata.read(issuer, required, ServerMetadata.places(url), http::get);
    return new AuthorizationServer(
        String.valueOf(answer.field("issuer")),
        endpoint(answer, "authorization_endpoint"),
        checked(required, String.valueOf(answer.field(required))),
        endpoint(answer, "registration_endpoint"),
        "true".equals(answer.field("authorization_response_iss_parameter_supported")),
        answer.list("code_challenge_methods_supported").contains("S256"),
        answer.list("scopes_supported"));
  }

  private @Nullable URI endpoint(JsonHttp.Answer answer, String name) {
    String url = answer.field(name);
    return url == null ? null : checked(name, url);
  }

  private URI checked(String what, String text) {
    return JsonHttp.url(what, text, server);
  }
}
