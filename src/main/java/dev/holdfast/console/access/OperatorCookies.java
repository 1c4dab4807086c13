package dev.holdfast.console.access;

import dev.holdfast.text.Urls;
import io.vertx.core.http.Cookie;
import io.vertx.core.http.CookieSameSite;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The two cookies of the console. With HTTPS their names begin with {@code __Host-}: a browser
 * takes them from no other host, and not without TLS (RFC 6265bis, section 4.1.3).
 *
 * @param secure whether the console has TLS
 */
record OperatorCookies(boolean secure) {

  static OperatorCookies of(@Nullable URI console) {
    return new OperatorCookies(console != null && Urls.isHttps(console));
  }

  private String signInName() {
    return name("holdfast-operator");
  }

  private String attemptName() {
    return name("holdfast-sign-in");
  }

  private String name(String name) {
    return (secure ? "__Host-" : "") + name;
  }

  @Nullable String signIn(HttpServerRequest request) {
    return value(request, signInName());
  }

  @Nullable String attempt(HttpServerRequest request) {
    return value(request, attemptName());
  }

  private static @Nullable String value(HttpServerRequest request, String name) {
    Cookie cookie = request.getCookie(name);
    return cookie == null ? null : cookie.getValue();
  }

  /** Sets the sign-in. Only requests of the console's own pages have it. */
  void setSignIn(HttpServerResponse response, String value, Duration life) {
    set(response, signInName(), value, life, CookieSameSite.STRICT);
  }

  void removeSignIn(HttpServerResponse response) {
    set(response, signInName(), "", Duration.ZERO, CookieSameSite.STRICT);
  }

  /** Sets what the browser keeps during a sign-in: the page of the provider leads back with it. */
  void setAttempt(HttpServerResponse response, String value) {
    set(response, attemptName(), value, SignIns.attemptLife(), CookieSameSite.LAX);
  }

  void removeAttempt(HttpServerResponse response) {
    set(response, attemptName(), "", Duration.ZERO, CookieSameSite.LAX);
  }

  private void set(
      HttpServerResponse response,
      String name,
      String value,
      Duration life,
      CookieSameSite sameSite) {
    response.addCookie(
        Cookie.cookie(name, value)
            .setPath("/")
            .setHttpOnly(true)
            .setSecure(secure)
            .setSameSite(sameSite)
            .setMaxAge(life.toSeconds()));
  }
}
