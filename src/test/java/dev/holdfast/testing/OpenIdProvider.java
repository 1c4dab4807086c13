package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A certified OpenID provider in a process of its own, until it is closed. Its clients {@code
 * alice}, {@code bob}, {@code brief} and {@code expired} get access tokens in their own name. The
 * gateway takes those of {@code brief} for a few seconds, and those of {@code expired} never.
 */
public final class OpenIdProvider implements AutoCloseable {

  private static final String SCRIPT = "openid-provider.mjs";
  private static final Pattern TOKEN = Pattern.compile("\"access_token\":\"([^\"]+)\"");

  private static final Pattern CLIENT_ID = Pattern.compile("\"client_id\":\"([^\"]+)\"");
  private static final Pattern CLIENT_SECRET = Pattern.compile("\"client_secret\":\"([^\"]+)\"");

  private final NodeFixture node;

  private OpenIdProvider(NodeFixture node) {
    this.node = node;
  }

  /** Starts a provider with new keys, and returns when it listens. */
  public static OpenIdProvider start() {
    return start(0);
  }

  /**
   * Starts a provider with new keys on a port, such as that of one that was closed: the same issuer
   * has changed its keys.
   */
  public static OpenIdProvider start(int port) {
    return new OpenIdProvider(NodeFixture.start(SCRIPT, Integer.toString(port)));
  }

  /** The name of the issuer, which is its URL. */
  public String issuer() {
    return "http://127.0.0.1:" + node.port();
  }

  /** The port that it listens on. */
  public int port() {
    return node.port();
  }

  /** All that the provider has written so far, for the messages of failing tests. */
  public String output() {
    return node.output();
  }

  /**
   * Gets an access token with the credentials of a client (RFC 6749, section 4.4).
   *
   * @param client its name, which is its secret, and the subject of the token
   * @param resource the only resource that the token is for (RFC 8707)
   * @param scopes what the token may be used for, with spaces between: {@code tools}, {@code
   *     files}; a token with {@code opaque} is no JWT
   */
  public String token(String client, String resource, String scopes) {
    String form =
        "grant_type=client_credentials&resource=%s&scope=%s"
            .formatted(URLEncoder.encode(resource, UTF_8), URLEncoder.encode(scopes, UTF_8));
    String answer = post("/token", client, form);
    Matcher token = TOKEN.matcher(answer);
    if (!token.find()) {
      throw new IllegalStateException(answer);
    }
    return token.group(1);
  }

  /**
   * Registers a program of this machine where people sign in (RFC 7591), and returns its id.
   *
   * @param scopes all that it may ask for, with spaces between
   */
  public String register(URI redirect, String scopes) {
    return found(CLIENT_ID, register(redirect, scopes, "none"));
  }

  private String register(URI redirect, String scopes, String authentication) {
    String body =
        """
        {"redirect_uris":["%s"],"application_type":"native","token_endpoint_auth_method":"%s",\
        "grant_types":["authorization_code"],"response_types":["code"],"scope":"%s"}\
        """
            .formatted(redirect, authentication, scopes);
    return send(request("/reg").header("Content-Type", "application/json"), body);
  }

  private static String found(Pattern pattern, String answer) {
    Matcher found = pattern.matcher(answer);
    if (!found.find()) {
      throw new IllegalStateException(answer);
    }
    return found.group(1);
  }

  /**
   * Settings of a gateway whose operators sign in here.
   *
   * @param console where the console is
   */
  public Map<String, String> operatorSettings(URI console) {
    return Map.of(
        "holdfast.auth.public-url",
        "https://mcp.example.com",
        "holdfast.auth.issuers.company.url",
        issuer(),
        "holdfast.operators.console-url",
        console.toString(),
        "holdfast.operators.client-id",
        register(
            console.resolve("console/signed-in"),
            "openid holdfast:view holdfast:operate holdfast:messages"));
  }

  /**
   * The same for a gateway that shows a secret. The rights of operators are the claim {@code
   * roles}, and no scopes.
   *
   * @param console where the console is
   */
  public Map<String, String> confidentialOperatorSettings(URI console) {
    String registered =
        register(console.resolve("console/signed-in"), "openid", "client_secret_basic");
    Map<String, String> settings = new HashMap<>(operatorSettings(console));
    settings.put("holdfast.operators.client-id", found(CLIENT_ID, registered));
    settings.put("holdfast.operators.client-secret", found(CLIENT_SECRET, registered));
    settings.put("holdfast.operators.claim", "roles");
    return settings;
  }

  /** Revokes an opaque token of a client (RFC 7009). */
  public void revoke(String client, String token) {
    String answer = post("/token/revocation", client, "token=" + URLEncoder.encode(token, UTF_8));
    if (!answer.isEmpty()) {
      throw new IllegalStateException(answer);
    }
  }

  private String post(String path, String client, String form) {
    String credentials =
        Base64.getEncoder().encodeToString((client + ":" + client).getBytes(UTF_8));
    return send(
        request(path)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Authorization", "Basic " + credentials),
        form);
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(issuer() + path));
  }

  private String send(HttpRequest.Builder request, String body) {
    HttpRequest sent = request.POST(HttpRequest.BodyPublishers.ofString(body)).build();
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(sent, HttpResponse.BodyHandlers.ofString()).body();
    } catch (IOException e) {
      throw new IllegalStateException(output(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    node.close();
  }
}
