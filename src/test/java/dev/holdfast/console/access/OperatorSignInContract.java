package dev.holdfast.console.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.console.RawAnswer;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.OpenIdProvider;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.io.IOException;
import java.net.CookieManager;
import java.net.CookiePolicy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Operators sign in to two replicas behind a balancer, and attackers do not, on each port. */
@Timeout(240)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class OperatorSignInContract {

  private static final AccessKey VIEWER = AccessKey.random();
  static final AccessKey OPERATOR = AccessKey.random();
  static final AccessKey CLIENT = AccessKey.random();

  private RedisFixture redis;
  private OpenIdProvider provider;
  private RoundRobin balancer;
  List<Gateway> gateways;
  URI console;

  /** The URL of the port that serves the console to operators. */
  abstract URI target(Gateway gateway);

  /** Settings of that port. */
  abstract Map<String, String> more();

  /** Settings of operators who sign in at a provider. */
  Map<String, String> operators(OpenIdProvider at) {
    return at.operatorSettings(console);
  }

  @BeforeAll
  void start() {
    redis = RedisFixture.start();
    provider = OpenIdProvider.start();
    balancer = RoundRobin.withoutTargets();
    console = balancer.url("/operators/");
    gateways = Gateway.startPair(settings());
    balancer.retarget(gateways.stream().map(this::target).toList());
  }

  private Map<String, String> settings() {
    Map<String, String> settings = redis.gatewaySettings();
    settings.put("quarkus.management.host", "0.0.0.0");
    settings.put("holdfast.audit", "true");
    settings.put("holdfast.auth.keys.viewer.hash", VIEWER.hash());
    settings.put("holdfast.auth.keys.viewer.scopes", "holdfast:view");
    settings.put("holdfast.auth.keys.operator.hash", OPERATOR.hash());
    settings.put("holdfast.auth.keys.operator.scopes", "holdfast:view,holdfast:operate");
    settings.put("holdfast.auth.keys.client.hash", CLIENT.hash());
    settings.putAll(operators(provider));
    settings.putAll(more());
    return settings;
  }

  @AfterAll
  void stop() {
    gateways.forEach(Gateway::close);
    balancer.close();
    provider.close();
    redis.close();
  }

  Browser open() {
    return new Browser(console, new TreeMap<>());
  }

  private Browser signedIn(AccessKey key) throws IOException {
    Browser browser = open();
    browser.signIn(key);
    return browser;
  }

  /** A browser that keeps the cookies of the console, and sends what browsers send. */
  record Browser(URI page, Map<String, String> cookies) {

    RawAnswer get(String path) throws IOException {
      return send("GET", path, Map.of("Sec-Fetch-Site", "same-origin"), "");
    }

    RawAnswer post(String path, String body) throws IOException {
      return send("POST", path, own(), body);
    }

    RawAnswer delete(String path) throws IOException {
      return send("DELETE", path, own(), "");
    }

    private Map<String, String> own() {
      return Map.of(
          "Origin", page.getScheme() + "://" + page.getAuthority(),
          "Sec-Fetch-Site", "same-origin",
          "Content-Type", "application/json");
    }

    RawAnswer send(String method, String path, Map<String, String> headers, String body)
        throws IOException {
      Map<String, String> all = new HashMap<>(headers);
      StringBuilder sent = new StringBuilder();
      cookies.forEach((name, value) -> sent.append(name).append('=').append(value).append("; "));
      if (!sent.isEmpty()) {
        all.put("Cookie", sent.substring(0, sent.length() - 2));
      }
      RawAnswer answer = RawAnswer.to(page.resolve(path), method, all, body);
      for (String cookie : answer.headers("Set-Cookie")) {
        String pair = cookie.substring(0, cookie.indexOf(';'));
        cookies.put(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
      }
      return answer;
    }

    RawAnswer signIn(AccessKey key) throws IOException {
      return post("console/sign-in", "{\"key\":\"" + key.value() + "\"}");
    }

    int status() throws IOException {
      return get("console/status").status();
    }
  }

  @Test
  void shouldExchangeAKeyForACookieOfAllReplicas() throws IOException {
    Browser browser = open();
    assertThat(browser.status()).isEqualTo(401);
    assertThat(browser.get("console/me").body())
        .contains("\"withKey\":true")
        .doesNotContain("rights");

    RawAnswer signedIn = browser.signIn(VIEWER);

    assertThat(signedIn.status()).isEqualTo(204);
    assertThat(signedIn.header("Set-Cookie"))
        .contains("HTTPOnly", "SameSite=Strict", "Path=/", "Max-Age=3600")
        .doesNotContain(VIEWER.value(), VIEWER.hash(), "viewer");
    for (int replica = 0; replica < 4; replica++) {
      assertThat(browser.status()).isEqualTo(200);
    }
    assertThat(browser.get("console/me").body())
        .contains("\"name\":\"viewer\"", "[\"view\"]")
        .doesNotContain(VIEWER.value());
    Map<String, String> stolen = Map.copyOf(browser.cookies());

    assertThat(browser.post("console/sign-out", "{}").status()).isEqualTo(204);

    assertThat(browser.status()).isEqualTo(401);
    Browser thief = new Browser(console, new TreeMap<>(stolen));
    // A replica asks the store again after some seconds.
    await().until(() -> List.of(thief.status(), thief.status()).equals(List.of(401, 401)));
  }

  @Test
  void shouldRefuseWhatTheOperatorMayNotDo() throws IOException {
    McpClient client = clientSession();
    Browser viewer = signedIn(VIEWER);
    Browser operator = signedIn(OPERATOR);
    String status = viewer.get("console/sessions").body();
    String key = status.replaceAll("(?s).*\"handle\":\"([\\w-]+)\".*", "$1");

    assertThat(viewer.get("console/sessions/" + key).status()).isEqualTo(200);
    assertThat(viewer.delete("console/sessions/" + key).status()).isEqualTo(403);
    assertThat(open().delete("console/sessions/" + key).status()).isEqualTo(401);
    assertThat(operator.delete("console/sessions/" + key).status()).isEqualTo(200);
    assertThat(client.session()).isNotEmpty();
    assertThat(gateways.stream().map(Gateway::output))
        .anyMatch(lines -> lines.contains("\"act\":\"ended a session\""));

    Browser nobody = open();
    assertThat(nobody.signIn(CLIENT).status()).isEqualTo(403);
    assertThat(nobody.signIn(AccessKey.random()).status()).isEqualTo(403);
    assertThat(nobody.cookies()).isEmpty();
    assertThat(nobody.status()).isEqualTo(401);
  }

  @Test
  void shouldCheckTheRightForEachUrl() throws IOException {
    Browser nobody = open();
    Browser viewer = signedIn(VIEWER);
    Browser operator = signedIn(OPERATOR);
    String call = "console/calls/" + "0".repeat(32);

    for (String path :
        List.of(
            "console/status",
            "console/sessions",
            "console/sessions/x",
            "console/calls",
            call,
            call + "/events",
            "console/servers",
            "console/names?endpoint=default",
            "console/clients",
            "console/history",
            "console/start")) {
      assertThat(nobody.get(path).status()).as(path).isEqualTo(401);
      assertThat(viewer.get(path).status()).as(path).isIn(200, 404);
    }
    for (String path :
        List.of(
            call + "/result",
            "console/tries",
            "console/tries/call",
            "console/tries/follow",
            "console/tries/end")) {
      assertThat(nobody.post(path, "{}").status()).as(path).isEqualTo(401);
      assertThat(viewer.post(path, "{}").status()).as(path).isEqualTo(403);
      assertThat(operator.post(path, "{}").status()).as(path).isIn(404, 409);
    }
    assertThat(nobody.delete(call).status()).isEqualTo(401);
    assertThat(viewer.delete(call).status()).isEqualTo(403);
    assertThat(operator.delete(call).status()).isEqualTo(404);
    // Nobody has this right here.
    assertThat(operator.get(call + "/messages").status()).isEqualTo(403);
    assertThat(nobody.get(call + "/messages").status()).isEqualTo(401);
    assertThat(viewer.get("console/calls?skip=x").status()).isEqualTo(400);
    assertThat(viewer.get("console/calls?skip=9999999999").status()).isEqualTo(400);
  }

  private McpClient clientSession() {
    return McpClient.at(gateways.getFirst().url(), CLIENT);
  }

  @Test
  void shouldSignInAtTheProvider() throws IOException, InterruptedException {
    CookieManager cookies = new CookieManager(null, CookiePolicy.ACCEPT_ALL);
    try (HttpClient http =
        HttpClient.newBuilder()
            .cookieHandler(cookies)
            .followRedirects(HttpClient.Redirect.ALWAYS)
            .version(HttpClient.Version.HTTP_1_1)
            .build()) {

      HttpResponse<String> page = get(http, "console/sign-in");

      // The client of the JDK follows five redirects, and this is the sixth one.
      assertThat(page.headers().firstValue("Location").orElse(page.uri().toString()))
          .isEqualTo(console.toString());
      for (int replica = 0; replica < 4; replica++) {
        assertThat(get(http, "console/status").statusCode()).isEqualTo(200);
      }
      // Messages are switched off, although the person has the right.
      assertThat(get(http, "console/me").body())
          .contains("\"name\":\"alice\"", "[\"operate\",\"view\"]");
    }
  }

  private HttpResponse<String> get(HttpClient http, String path)
      throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(console.resolve(path)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void shouldTakeNoAnswerThatTheBrowserHasNotAskedFor() throws IOException {
    Browser victim = open();
    RawAnswer begun = victim.get("console/sign-in");
    assertThat(begun.status()).isEqualTo(303);
    assertThat(begun.header("Location"))
        .startsWith(provider.issuer())
        .contains("code_challenge_method=S256", "response_type=code", "nonce=");
    assertThat(begun.header("Set-Cookie")).contains("HTTPOnly", "SameSite=Lax", "Max-Age=600");
    String state = begun.header("Location").replaceAll(".*&state=([^&]+).*", "$1");
    Map<String, String> kept = Map.copyOf(victim.cookies());

    // Of another browser, with another state, from another issuer, twice.
    for (String query :
        List.of(
            "code=x&state=" + state.substring(1), "code=x", "code=x&iss=http://x&state=" + state)) {
      Browser each = new Browser(console, new TreeMap<>(open().cookies()));
      assertRefused(each, query);
      each.cookies().putAll(kept);
      assertRefused(each, query);
    }
    assertRefused(new Browser(console, new TreeMap<>(kept)), "code=x&state=" + state);
    assertRefused(open(), "code=x&state=" + state);
    assertRefused(open(), "error=access_denied&state=" + state);
  }

  private void assertRefused(Browser browser, String query) throws IOException {
    RawAnswer answer =
        browser.send(
            "GET",
            "console/signed-in?" + query,
            Map.of("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"),
            "");
    assertThat(answer.status()).as(query).isEqualTo(303);
    assertThat(answer.header("Location")).as(query).isEqualTo(console + "#refused");
    assertThat(browser.status()).as(query).isEqualTo(401);
  }

  @Test
  void shouldRefuseOtherHostsOriginsAndForms() throws IOException {
    Browser browser = open();
    browser.signIn(OPERATOR);
    String own = console.getScheme() + "://" + console.getAuthority();

    for (String host :
        List.of("evil.example", "127.0.0.1", "localhost:" + console.getPort(), "a@b", "")) {
      assertThat(browser.send("GET", "console/status", Map.of("Host", host), "").status())
          .as(host)
          .isIn(400, 403);
      assertThat(browser.send("GET", "", Map.of("Host", host), "").status())
          .as(host)
          .isIn(400, 403);
    }
    String body = "{\"key\":\"" + OPERATOR.value() + "\"}";
    for (Map<String, String> headers :
        List.of(
            Map.of("Content-Type", "application/json"),
            Map.of("Content-Type", "application/json", "Origin", "null"),
            Map.of("Content-Type", "application/json", "Origin", "https://evil.example"),
            Map.of(
                "Content-Type", "application/json", "Origin", own, "Sec-Fetch-Site", "same-site"),
            Map.of(
                "Content-Type",
                "application/json",
                "Origin",
                own,
                "Sec-Fetch-Site",
                "cross-site",
                "Sec-Fetch-Mode",
                "navigate"))) {
      for (String path : List.of("console/sign-in", "console/sign-out")) {
        assertThat(browser.send("POST", path, headers, body).status())
            .as(path + headers)
            .isEqualTo(403);
      }
      assertThat(browser.send("DELETE", "console/sessions/x", headers, "").status())
          .as("%s", headers)
          .isEqualTo(403);
    }
    assertThat(
            browser
                .send(
                    "POST",
                    "console/sign-in",
                    Map.of("Origin", own, "Content-Type", "text/plain"),
                    body)
                .status())
        .isEqualTo(415);
    assertThat(browser.post("console/sign-in", "[]").status()).isEqualTo(400);
    assertThat(browser.post("console/sign-in", "x".repeat(300_000)).status()).isEqualTo(413);
    assertThat(browser.get("console/status").status()).isEqualTo(200);
    assertThat(
            browser
                .send("GET", "console/status", Map.of("Sec-Fetch-Site", "cross-site"), "")
                .status())
        .isEqualTo(403);
  }

  @Test
  void shouldNotTakeForgedCookies() throws IOException {
    Browser browser = open();
    browser.signIn(OPERATOR);
    String name = browser.cookies().keySet().iterator().next();
    String value = browser.cookies().values().iterator().next();
    Browser other = open();
    RawAnswer _ = other.get("console/sign-in");
    String attempt = other.cookies().values().iterator().next();

    for (String forged :
        List.of(
            "",
            "x",
            value + "A",
            value.substring(1),
            value.substring(0, value.length() - 2) + "AA",
            attempt,
            "A".repeat(6000))) {
      Browser forger = new Browser(console, new TreeMap<>(Map.of(name, forged)));
      assertThat(forger.status()).as(forged).isIn(401, 431, 400);
    }
  }

  @Test
  void shouldBeFramedByNobodyAndServeNothingElseOfTheManagementPort() throws IOException {
    RawAnswer page = open().get("");
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.header("Content-Security-Policy"))
        .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
        .endsWith("connect-src 'self'");
    assertThat(page.header("X-Frame-Options")).isEqualTo("DENY");
    assertThat(page.header("Cache-Control")).isEqualTo("no-store");
    // An ingress publishes the path of the console, and nothing of health or metrics.
    for (String path : List.of("q/metrics", "q/health", "../q/metrics", "%2e%2e/q/metrics")) {
      assertThat(RawAnswer.to(URI.create(console + path), "GET", Map.of()).status())
          .as(path)
          .isNotEqualTo(200);
    }
  }

  private Map<String, String> named() {
    Map<String, String> settings = new HashMap<>(more());
    settings.put("holdfast.auth.keys.operator.hash", OPERATOR.hash());
    settings.put("holdfast.auth.keys.operator.scopes", "holdfast:view");
    settings.put("holdfast.operators.console-url", "https://mcp.example.com/console/");
    return settings;
  }

  /** The gateway does not allow this name and this origin to clients. */
  @Test
  void shouldAnswerUnderItsOwnName() throws IOException {
    try (Gateway gateway = Gateway.start(named())) {
      URI signIn = target(gateway).resolve("/console/console/sign-in");
      Map<String, String> own =
          Map.of(
              "Host", "mcp.example.com",
              "Origin", "https://mcp.example.com",
              "Content-Type", "application/json");
      String body = "{\"key\":\"" + OPERATOR.value() + "\"}";

      RawAnswer answer = RawAnswer.to(signIn, "POST", own, body);

      assertThat(answer.status()).as(answer.body()).isEqualTo(204);
      assertThat(answer.header("Set-Cookie")).startsWith("__Host-").contains("Secure");
      assertThat(answer.header("Access-Control-Allow-Origin")).isEmpty();
      Map<String, String> foreign = new HashMap<>(own);
      foreign.put("Origin", "https://evil.example");
      assertThat(RawAnswer.to(signIn, "POST", foreign, body).status()).isEqualTo(403);
      foreign.put("Origin", "https://mcp.example.com");
      foreign.put("Host", "evil.example");
      assertThat(RawAnswer.to(signIn, "POST", foreign, body).status()).isEqualTo(403);
    }
  }
}
