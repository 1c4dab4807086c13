package dev.holdfast.oauth;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.net.SSLOptions;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The token endpoint of an authorization server (RFC 6749, section 3.2). */
public final class TokenEndpoint implements AutoCloseable {

  /** For servers that do not name one, which RFC 6749, section 5.1, allows. */
  private static final Duration DEFAULT_LIFETIME = Duration.ofMinutes(5);

  private static final long MAX_SECONDS = Duration.ofDays(1).toSeconds();

  /** Code of an error. Nothing else of an answer is shown. */
  static final Pattern ERROR = Pattern.compile("[a-z_]{1,64}");

  /** RFC 6750, section 2.1. */
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

  private final JsonHttp http;
  private final URI url;

  /** Null for a client without a secret. */
  private final @Nullable String authorization;

  /**
   * Tokens of one answer.
   *
   * @param refresh gets the next tokens (RFC 6749, section 6); null for none
   */
  record Issued(AccessToken access, @Nullable String refresh) {}

  /**
   * Connects on demand.
   *
   * @param url {@code http} or {@code https}
   * @param id the client's id at the server, which it proves with its secret (HTTP Basic)
   */
  public TokenEndpoint(
      Vertx vertx,
      URI url,
      String id,
      String secret,
      Duration timeout,
      Consumer<HttpClientOptions> tls) {
    this(new JsonHttp(vertx, timeout, tls), url, basic(id, secret));
  }

  /** An endpoint for a client that proves itself with a header, or not if that is null. */
  TokenEndpoint(JsonHttp http, URI url, @Nullable String authorization) {
    this.http = http;
    this.url = url;
    this.authorization = authorization;
  }

  /** The value of {@code Authorization} for a client with a secret (RFC 6749, section 2.3.1). */
  public static String basic(String id, String secret) {
    String pair = JsonHttp.encoded(id) + ":" + JsonHttp.encoded(secret);
    return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Requests a token.
   *
   * @throws TokenException if the server refuses or does not answer
   */
  public AccessToken request(Map<String, String> form) {
    return issue(form).access();
  }

  /** Requests tokens, as {@link #request} does. */
  Issued issue(Map<String, String> form) {
    JsonHttp.Answer answer = http.post(url, form, authorization);
    if (answer.status() != 200) {
      throw refusal(answer);
    }
    String token = Objects.requireNonNullElse(answer.field("access_token"), "");
    String type = Objects.requireNonNullElse(answer.field("token_type"), "");
    if (!TOKEN.matcher(token).matches() || !type.toLowerCase(Locale.ROOT).equals("bearer")) {
      throw new TokenException("an answer without a bearer token", null);
    }
    return new Issued(
        new AccessToken(token, lifetime(answer.field("expires_in"))),
        answer.field("refresh_token"));
  }

  /** Returns an exception with the error that an answer names (RFC 6749, section 5.2). */
  static TokenException refusal(JsonHttp.Answer answer) {
    String error = Objects.requireNonNullElse(answer.field("error"), "");
    String text = "status " + answer.status() + (ERROR.matcher(error).matches() ? " " + error : "");
    boolean temporary = answer.status() >= 500 || answer.status() == 429;
    return new TokenException(text, !temporary, error);
  }

  private static Duration lifetime(@Nullable String seconds) {
    return seconds != null && seconds.matches("\\d{1,9}")
        ? Duration.ofSeconds(Math.clamp(Long.parseLong(seconds), 1, MAX_SECONDS))
        : DEFAULT_LIFETIME;
  }

  /** Uses renewed certificates for new connections. */
  public void renew(SSLOptions renewed) {
    http.renew(renewed);
  }

  @Override
  public void close() {
    http.close();
  }
}
