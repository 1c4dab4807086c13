package dev.holdfast.oauth;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.BrowserVisit;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sign-in at an authorization server that does what a test wants, and a clock of the test. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class UserTokensTest {

  private static final String METADATA = "/.well-known/oauth-protected-resource/mcp";
  private static final String ISSUER = "/.well-known/oauth-authorization-server";
  private static final int LIFETIME = 100;

  private final Vertx vertx = Vertx.vertx();
  private final Map<String, String> answers = new ConcurrentHashMap<>();
  private final AtomicInteger issued = new AtomicInteger();
  private volatile int tokenStatus = 200;
  private volatile CountDownLatch tokenGate = new CountDownLatch(0);
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private ScriptedServer server;
  private LoggedLines log;

  @TempDir private Path directory;

  @BeforeEach
  void start() {
    server =
        ScriptedServer.playing((request, wire) -> {
          String path = request.target().replaceAll("\\?.*", "");
          if (path.equals("/token")) {
            tokenGate.await();
            int n = issued.incrementAndGet();
            String body =
                tokenStatus == 200
                    ? "{\"access_token\":\"access%d\",\"token_type\":\"bearer\",\"expires_in\":%d,\"refresh_token\":\"refresh%d\"}"
                        .formatted(n, LIFETIME, n)
                    : "{\"error\":\"invalid_grant\"}";
            wire.answer(tokenStatus, "application/json", body);
          } else {
            String body = answers.get(path);
            wire.answer(body == null ? 404 : 200, "application/json", body == null ? "{}" : body);
          }
        });
    log = new LoggedLines(SignIn.class);
    String root = root();
    answers.put(
        METADATA,
        "{\"resource\":\"%s\",\"authorization_servers\":[\"%s\"],\"scopes_supported\":[\"a\",\"b\"]}"
            .formatted(server.url(), root));
    answers.put(
        ISSUER,
        """
        {"issuer":"%1$s","authorization_endpoint":"%1$s/auth","token_endpoint":"%1$s/token",\
        "registration_endpoint":"%1$s/register","code_challenge_methods_supported":["S256"],\
        "authorization_response_iss_parameter_supported":true,"jwks":{"keys":[]}}\
        """
            .formatted(root));
    answers.put("/register", "{\"client_id\":\"registered\"}");
  }

  @AfterEach
  void stop() {
    tokenGate.countDown();
    log.close();
    server.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private String root() {
    return server.url().resolve("/").toString().replaceAll("/$", "");
  }

  private SignInSettings settings(String clientId, String secret) {
    return new SignInSettings(
        server.url(),
        clientId.isEmpty() ? null : clientId,
        secret.isEmpty() ? null : secret,
        null,
        directory.resolve("tokens"),
        false,
        Duration.ofSeconds(30));
  }

  private UserTokens tokens() {
    return new UserTokens(vertx, settings("", ""), () -> now);
  }

  private static String value(UserTokens tokens) {
    return tokens.get(true).map(AccessToken::value).orElse("none");
  }

  /** The server answers 401 to a request with the token of now. */
  private static void refuse(UserTokens tokens, String... challenges) {
    String token = tokens.get(false).map(AccessToken::value).orElse(null);
    tokens.refuse(token, List.of(challenges));
  }

  private URI page(int number) {
    String line = "sign in with a browser url=";
    await()
        .until(() -> log.lines().stream().filter(each -> each.startsWith(line)).count() >= number);
    return URI.create(
        log.lines().stream()
            .filter(each -> each.startsWith(line))
            .skip(number - 1L)
            .findFirst()
            .orElseThrow()
            .substring(line.length()));
  }

  private static Map<String, String> fields(String form) {
    Map<String, String> fields = new HashMap<>();
    for (String pair : form.split("&", -1)) {
      String[] parts = pair.split("=", 2);
      fields.put(parts[0], URLDecoder.decode(parts[1], UTF_8));
    }
    return fields;
  }

  /** Does as the authorization server and the browser do. */
  private void answer(URI page, String more) {
    Map<String, String> query = fields(page.getRawQuery());
    URI back = URI.create(query.get("redirect_uri") + "?state=" + query.get("state") + "&" + more);
    assertThat(BrowserVisit.open(back).statusCode()).isEqualTo(200);
  }

  private String iss() {
    return "iss=" + JsonHttp.encoded(root());
  }

  private String signIn(UserTokens tokens) {
    CompletableFuture<String> value = CompletableFuture.supplyAsync(() -> value(tokens), threads);
    answer(page(1), "code=c&" + iss());
    return value.join();
  }

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  private List<Map<String, String>> tokenRequests() {
    return server.requests().stream()
        .filter(request -> request.target().equals("/token"))
        .map(ScriptedRequest::body)
        .map(UserTokensTest::fields)
        .toList();
  }

  private UserTokens signedIn() {
    UserTokens tokens = tokens();
    refuse(tokens);
    assertThat(signIn(tokens)).isEqualTo("access1");
    return tokens;
  }

  @Test
  void withoutA401ShouldAskForNothing() {
    try (UserTokens tokens = tokens()) {
      assertThat(tokens.get(true)).isEmpty();
      assertThat(server.requests()).isEmpty();
      assertThat(directory).isEmptyDirectory();
    }
  }

  @Test
  void shouldSignInWithPkceForThisServer() throws Exception {
    try (UserTokens tokens = tokens()) {
      refuse(tokens, "Bearer scope=\"x y\"");

      assertThat(signIn(tokens)).isEqualTo("access1");

      Map<String, String> asked = fields(page(1).getRawQuery());
      Map<String, String> form = tokenRequests().getFirst();
      assertThat(asked)
          .containsEntry("response_type", "code")
          .containsEntry("client_id", "registered")
          .containsEntry("code_challenge_method", "S256")
          .containsEntry("resource", server.url().toString())
          .containsEntry("scope", "x y");
      assertThat(form)
          .containsEntry("grant_type", "authorization_code")
          .containsEntry("code", "c")
          .containsEntry("client_id", "registered")
          .containsEntry("resource", server.url().toString())
          .containsEntry("redirect_uri", asked.get("redirect_uri"));
      byte[] hash =
          MessageDigest.getInstance("SHA-256")
              .digest(form.getOrDefault("code_verifier", "").getBytes(UTF_8));
      assertThat(asked)
          .containsEntry(
              "code_challenge", Base64.getUrlEncoder().withoutPadding().encodeToString(hash));
    }
  }

  @Test
  void shouldAskForTheScopesOfTheMetadataIfTheChallengeNamesNone() {
    try (UserTokens tokens = signedIn()) {
      assertThat(fields(page(1).getRawQuery())).containsEntry("scope", "a b");
      assertThat(value(tokens)).isEqualTo("access1");
    }
  }

  @Test
  void shouldReadTheMetadataThatTheChallengeNames() {
    answers.put("/elsewhere", answers.remove(METADATA));
    try (UserTokens tokens = tokens()) {
      refuse(tokens, "Bearer resource_metadata=\"" + root() + "/elsewhere\"");

      assertThat(signIn(tokens)).isEqualTo("access1");
    }
  }

  @Test
  void withoutMetadataShouldTryTheRootOfTheServer() {
    answers.remove(METADATA);
    try (UserTokens tokens = signedIn()) {
      assertThat(fields(page(1).getRawQuery()))
          .containsEntry("resource", server.url().toString())
          .doesNotContainKey("scope");
      assertThat(value(tokens)).isEqualTo("access1");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/.well-known/oauth-protected-resource/mcp | /mcp\" | /other\" | another server",
        "/.well-known/oauth-protected-resource/mcp | authorization_servers | none | names no",
        "/.well-known/oauth-authorization-server | issuer\":\"http | issuer\":\"https | another issuer",
        "/.well-known/oauth-authorization-server | S256 | plain | PKCE",
        "/.well-known/oauth-authorization-server | token_endpoint | none | no token_endpoint",
        "/.well-known/oauth-authorization-server | registration_endpoint | none | --client-id",
        "/.well-known/oauth-authorization-server | keys | %FILL% | more than 65536 bytes",
      })
  void shouldRefuseMetadata(String path, String part, String other, String reason) {
    answers.computeIfPresent(
        path, (_, body) -> body.replace(part, other.replace("%FILL%", "a".repeat(65_536))));

    assertRefuses(reason);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://example.com/auth",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://user@example.com/",
        "https:///auth",
        "calc.exe",
        "not a url"
      })
  void shouldOpenOnlySafePages(String url) {
    answers.computeIfPresent(ISSUER, (_, body) -> body.replace(root() + "/auth\"", url + "\""));

    assertRefuses("authorization_endpoint");
  }

  private void assertRefuses(String reason) {
    try (UserTokens tokens = tokens()) {
      refuse(tokens);

      assertThatExceptionOfType(TokenException.class)
          .isThrownBy(() -> tokens.get(true))
          .withMessageContaining(reason);
      assertThat(log.lines()).isEmpty();
    }
  }

  @Test
  void shouldSendTokensOverTlsOnly() {
    SignInSettings local = settings("", "");
    SignInSettings plain =
        new SignInSettings(
            URI.create("http://mcp.example.com/mcp"),
            null,
            null,
            null,
            local.directory(),
            false,
            local.timeout());
    try (UserTokens tokens = new UserTokens(vertx, plain)) {
      refuse(tokens);

      assertThatExceptionOfType(TokenException.class)
          .isThrownBy(() -> tokens.get(true))
          .withMessageContaining("https://");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "error=access_denied, access_denied",
    "error=%3Cscript%3E, was refused",
    "code=c&iss=https://evil.example, another issuer",
    "code=c, another issuer",
  })
  void shouldRefuseAnAnswer(String answer, String reason) {
    try (UserTokens tokens = tokens()) {
      refuse(tokens);
      CompletableFuture<Optional<AccessToken>> signIn =
          CompletableFuture.supplyAsync(() -> tokens.get(true), threads);

      answer(page(1), answer.startsWith("error") ? answer + "&" + iss() : answer);

      assertThat(signIn)
          .failsWithin(Duration.ofSeconds(20))
          .withThrowableThat()
          .withMessageContaining(reason)
          .withMessageNotContaining("script");
      assertThat(tokenRequests()).isEmpty();
    }
  }

  @Test
  void afterAFailureShouldNotAskAgainAtOnce() {
    answers.remove(ISSUER);
    try (UserTokens tokens = tokens()) {
      refuse(tokens);
      for (int i = 0; i < 3; i++) {
        assertThatExceptionOfType(TokenException.class).isThrownBy(() -> tokens.get(true));
      }
      assertThat(server.requests()).filteredOn(each -> each.target().equals(ISSUER)).hasSize(1);
      now = now.plusSeconds(10);
      assertThatExceptionOfType(TokenException.class)
          .isThrownBy(() -> tokens.get(true))
          .withMessageContaining("404");
      assertThat(server.requests()).filteredOn(each -> each.target().equals(ISSUER)).hasSize(2);
    }
  }

  @Test
  void shouldRenewBeforeTheEndWithTheNewestRefreshToken() {
    try (UserTokens tokens = signedIn()) {
      now = now.plusSeconds(LIFETIME / 5 * 4 - 1);
      assertThat(value(tokens)).isEqualTo("access1");
      now = now.plusSeconds(1);
      assertThat(value(tokens)).isEqualTo("access2");
      now = now.plusSeconds(5);
      tokens.refuse("access2", List.of());

      assertThat(value(tokens)).isEqualTo("access3");

      assertThat(tokenRequests())
          .extracting(form -> form.get("refresh_token"))
          .containsExactly(null, "refresh1", "refresh2");
      assertThat(tokenRequests())
          .allMatch(form -> server.url().toString().equals(form.get("resource")));
    }
  }

  @Test
  void shouldUseATokenToItsEndWhileTheAuthorizationServerIsAway() {
    try (UserTokens tokens = signedIn()) {
      tokenStatus = 503;
      now = now.plusSeconds(LIFETIME - 1);
      assertThat(value(tokens)).isEqualTo("access1");
      now = now.plusSeconds(1);
      assertThatExceptionOfType(TokenException.class)
          .isThrownBy(() -> tokens.get(true))
          .matches(away -> !away.isRefused());
      tokenStatus = 200;

      assertThat(value(tokens)).isNotEqualTo("access1").startsWith("access");
    }
  }

  @Test
  void afterARefusedRefreshShouldSignInAgain() {
    try (UserTokens tokens = signedIn()) {
      tokenStatus = 400;
      now = now.plusSeconds(LIFETIME);
      assertThat(tokens.get(false)).isEmpty(); // Nobody waits.
      tokenStatus = 200;
      CompletableFuture<String> value = CompletableFuture.supplyAsync(() -> value(tokens), threads);
      answer(page(2), "code=c&" + iss());

      assertThat(value.join()).isEqualTo("access3");
    }
  }

  /** A renewed token that is refused as well does not help: a loop of renewals would not end. */
  @Test
  void afterARefusedNewTokenShouldSignInAgain() {
    try (UserTokens tokens = signedIn()) {
      tokens.refuse("access1", List.of());
      assertThat(value(tokens)).isEqualTo("access2");
      tokens.refuse("access2", List.of());
      CompletableFuture<String> value = CompletableFuture.supplyAsync(() -> value(tokens), threads);
      answer(page(2), "code=c&" + iss());

      assertThat(value.join()).isEqualTo("access3");
    }
  }

  @Test
  void shouldKeepTokensForTheNextStart() throws IOException {
    try (LoggedLines lines = new LoggedLines(UserTokens.class)) {
      signedIn().close();
      assertThat(lines.lines())
          .containsExactly(
              "signed in file=" + new TokenFile(directory.resolve("tokens"), server.url()).path());
    }
    try (UserTokens next = tokens()) {
      assertThat(value(next)).isEqualTo("access1");
      now = now.plusSeconds(LIFETIME * 10L);
      assertThat(value(next)).isEqualTo("access2");
    }
    Path file = new TokenFile(directory.resolve("tokens"), server.url()).path();
    Files.writeString(file, "{\"server\":\"" + server.url() + "\",\"access_to");
    try (UserTokens broken = tokens()) {
      assertThat(broken.get(true)).isEmpty();
    }
  }

  /** A refresh token is good for one use: providers that see it twice end the sign-in. */
  @Test
  void shouldRenewOnceForManyThreadsAndProcesses() throws Exception {
    try (UserTokens first = signedIn();
        UserTokens second = tokens()) {
      assertThat(value(second)).isEqualTo("access1");
      now = now.plusSeconds(LIFETIME);
      tokenGate = new CountDownLatch(1);
      List<CompletableFuture<String>> values =
          IntStream.range(0, 8)
              .mapToObj(i ->
                  CompletableFuture.supplyAsync(() -> value(i % 2 == 0 ? first : second), threads))
              .toList();
      await().until(() -> tokenRequests().size() == 2);
      tokenGate.countDown();
      for (CompletableFuture<String> value : values) {
        assertThat(value.get(30, TimeUnit.SECONDS)).isEqualTo("access2");
      }
      assertThat(tokenRequests()).hasSize(2);
      try (Stream<Path> files = Files.list(directory.resolve("tokens"))) {
        assertThat(files.map(Path::toString)).hasSize(2).noneMatch(name -> name.endsWith(".tmp"));
      }
    }
  }

  @Test
  void shouldGetTokensForAProgramWithASecretAndKeepNone() {
    try (UserTokens tokens = new UserTokens(vertx, settings("machine", "s"), () -> now)) {
      refuse(tokens, "Bearer scope=x");
      assertThat(value(tokens)).isEqualTo("access1");
      now = now.plusSeconds(LIFETIME - 1);
      assertThat(tokens.get(false)).map(AccessToken::value).contains("access2");

      assertThat(tokenRequests())
          .allMatch(form ->
              form.equals(
                  Map.of(
                      "grant_type", "client_credentials",
                      "resource", server.url().toString(),
                      "scope", "x")));
      assertThat(directory).isEmptyDirectory();
      assertThat(log.lines()).isEmpty();
    }
  }

  @Test
  void shouldUseAGivenClient() {
    try (UserTokens tokens = new UserTokens(vertx, settings("mine", ""), () -> now)) {
      refuse(tokens);
      assertThat(signIn(tokens)).isEqualTo("access1");
      assertThat(tokenRequests().getFirst()).containsEntry("client_id", "mine");
      assertThat(server.requests()).noneMatch(each -> each.target().equals("/register"));
    }
    try (UserTokens other = new UserTokens(vertx, settings("another", ""), () -> now)) {
      assertThat(other.get(true)).isEmpty();
    }
  }

  @Test
  void shouldShowNoTokenInText() {
    SavedTokens saved =
        new SavedTokens(
            new SavedTokens.Client("id", "hidden1", false),
            URI.create("https://a/token"),
            "https://a",
            new AccessToken("hidden2", Duration.ofSeconds(1)),
            "hidden3",
            now);
    assertThat(saved + " " + saved.client() + settings("a", "hidden4")).doesNotContain("hidden");
  }
}
