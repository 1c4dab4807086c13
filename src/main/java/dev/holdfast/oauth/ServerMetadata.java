package dev.holdfast.oauth;

import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the metadata of authorization servers (RFC 8414, OpenID Connect Discovery 1.0). */
public final class ServerMetadata {

  private static final String OAUTH = "/.well-known/oauth-authorization-server";
  private static final String OPENID = "/.well-known/openid-configuration";

  private ServerMetadata() {}

  /** The places of RFC 8414, section 3.1 and section 5, and of OpenID Connect Discovery. */
  public static List<URI> places(URI issuer) {
    String path = withoutSlash(issuer.getRawPath());
    return Stream.of(OAUTH + path, OPENID + path, path + OPENID)
        .distinct()
        .map(issuer::resolve)
        .toList();
  }

  /**
   * Reads the first metadata that names the issuer and has a field.
   *
   * @param places where it may be, the best one first
   * @throws TokenException if there is none, or a place gives no answer
   */
  public static JsonHttp.Answer read(
      String issuer, String field, List<URI> places, Function<URI, JsonHttp.Answer> get) {
    TokenException failure = null;
    for (URI place : places) {
      JsonHttp.Answer answer = get.apply(place);
      TokenException problem = problem(issuer, field, place, answer);
      if (problem == null) {
        return answer;
      }
      failure = failure == null || !failure.isRefused() ? problem : failure;
    }
    throw Objects.requireNonNull(failure);
  }

  private static @Nullable TokenException problem(
      String issuer, String field, URI place, JsonHttp.Answer answer) {
    if (answer.status() != 200) {
      return answer.unreadable(place);
    }
    // Tools differ in whether they write a slash at the end.
    String name = Objects.requireNonNullElse(answer.field("issuer"), "");
    if (!withoutSlash(name).equals(withoutSlash(issuer))) {
      return new TokenException(place + " is the metadata of another issuer");
    }
    return answer.field(field) == null ? new TokenException(place + " has no " + field) : null;
  }

  static String withoutSlash(String url) {
    return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
  }
}
