package dev.holdfast.auth;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.call.Caller;
import dev.holdfast.oauth.JsonHttp;
import dev.holdfast.oauth.TokenException;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An endpoint that answers what no provider should. */
@Timeout(60)
class IntrospectionTest {

  private static final String CLIENT = "192.0.2.0/24";
  private static final Set<String> HERE = Set.of("https://mcp.example.com/mcp");
  private static final String ISSUER = "http://127.0.0.1:1";

  private final Vertx vertx = Vertx.vertx();
  private final JsonHttp http = new JsonHttp(vertx, TokenIssuer.TIMEOUT, _ -> {});
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final CountDownLatch gate = new CountDownLatch(1);
  private final HttpServer server = server();
  private volatile Instant now = Instant.parse("2026-11-23T10:15:30Z");
  private final AccessTokens tokens =
      new AccessTokens(List.of(new TokenIssuer(ISSUER, settings(), http)), () -> now);
  private volatile int status = 200;
  private volatile String answer = active("");
  private volatile boolean waits;
  private volatile boolean breaksOff;

  /** True if the server waits in the middle of a body. */
  private volatile boolean stalls;

  private HttpServer server() {
    try {
      HttpServer created =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      created.setExecutor(threads);
      created.createContext("/", this::answer);
      created.start();
      return created;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private IntrospectionSettings settings() {
    URI endpoint = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/ask");
    return new IntrospectionSettings(endpoint, "id: a", "secret", false);
  }

  private void answer(HttpExchange exchange) throws IOException {
    String form = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
    asked.add(
        exchange.getRequestMethod()
            + " "
            + exchange.getRequestURI()
            + " "
            + exchange.getRequestHeaders().getFirst("Authorization")
            + " "
            + form);
    if (breaksOff) {
      exchange.close();
      return;
    }
    if (waits) {
      awaitGate();
    }
    byte[] body = answer.getBytes(UTF_8);
    exchange.getResponseHeaders().set("Location", "/elsewhere");
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    OutputStream out = exchange.getResponseBody();
    int begun = stalls ? body.length / 2 : 0;
    if (stalls) {
      out.write(body, 0, begun);
      out.flush();
      awaitGate();
    }
    out.write(body, begun, body.length - begun);
    exchange.close();
  }

  private void awaitGate() {
    try {
      gate.await();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  @AfterEach
  void stop() {
    gate.countDown();
    server.stop(0);
    threads.shutdownNow();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private String active(String more) {
    return """
    {"active":true,"sub":"alice","aud":"https://mcp.example.com/mcp","exp":%d%s}\
    """
        .formatted(now.getEpochSecond() + 600, more);
  }

  private Caller ask(String token) {
    return tokens.caller(token, HERE, CLIENT);
  }

  @Test
  void shouldSendTheTokenAndTheCredentialsOfTheGateway() {
    answer = active(",\"scope\":\"tools files\"");

    assertThat(ask("a~token+").scopes()).containsExactlyInAnyOrder("tools", "files");

    assertThat(asked)
        .containsExactly(
            "POST /ask Basic aWQlM0ErYTpzZWNyZXQ="
                + " token_type_hint=access_token&token=a%7Etoken%2B");
  }

  @Test
  void shouldAskOnceAboutTokensThatItRemembers() {
    assertThat(ask("good").principal()).isEqualTo(ask("good").principal());
    answer = "{\"active\":false}";
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> ask("bad")).hasMessage("The token is not active");
    }

    assertThat(asked).hasSize(2);
  }

  @Test
  void shouldAskOnceAtATimeAboutAToken() throws Exception {
    waits = true;
    List<Future<Caller>> requests =
        IntStream.range(0, 20).mapToObj(_ -> threads.submit(() -> ask("good"))).toList();
    await().until(() -> !asked.isEmpty());

    gate.countDown();

    for (Future<Caller> request : requests) {
      assertThat(request.get().principal().subject()).isEqualTo("alice");
    }
    assertThat(asked).hasSize(1);
  }

  /** Strangers can send any token. */
  @Test
  void shouldBoundWhatItAsksAtOnce() throws Exception {
    waits = true;
    int many = 3 * Introspection.MAX_AT_ONCE;
    List<Future<Caller>> requests =
        IntStream.range(0, many)
            .mapToObj(n -> threads.submit(() -> tokens.caller("token" + n, HERE, "client" + n)))
            .toList();
    await().until(() -> asked.size() >= Introspection.MAX_AT_ONCE);

    await().until(() -> requests.stream().anyMatch(Future::isDone));

    assertThat(asked).hasSize(Introspection.MAX_AT_ONCE);
  }

  /** A stranger with many unknown tokens would keep everybody else waiting. */
  @Test
  void shouldLeavePlacesForOtherClientsAndForKnownTokens() throws Exception {
    answer = active("");
    assertThat(ask("good").principal().subject()).isEqualTo("alice");
    now = now.plusSeconds(31);
    asked.clear();
    waits = true;
    for (int i = 0; i < Introspection.MAX_OF_ONE; i++) {
      String unknown = "unknown" + i;
      var _ = threads.submit(() -> tokens.caller(unknown, HERE, "stranger"));
    }
    await().until(() -> asked.size() == Introspection.MAX_OF_ONE);

    assertThatThrownBy(() -> tokens.caller("one-more", HERE, "stranger"))
        .isInstanceOf(TokenRefusedException.IssuerAway.class);
    var known = threads.submit(() -> tokens.caller("good", HERE, "stranger"));
    var other = threads.submit(() -> tokens.caller("new", HERE, CLIENT));
    await().until(() -> asked.size() == Introspection.MAX_OF_ONE + 2);

    gate.countDown();
    assertThat(known.get().principal()).isEqualTo(other.get().principal());
  }

  @Test
  void shouldForgetWhatItRefusedLongestAgo() {
    answer = "{\"active\":false}";
    for (int n = 0; n <= 1000; n++) {
      String token = "token" + n;
      assertThatThrownBy(() -> ask(token)).hasMessage("The token is not active");
    }
    asked.clear();

    assertThatThrownBy(() -> ask("token1000")).hasMessage("The token is not active");
    assertThat(asked).isEmpty();
    assertThatThrownBy(() -> ask("token0")).hasMessage("The token is not active");
    assertThat(asked).hasSize(1);
  }

  /** A mistyped key is a secret of this gateway. */
  @Test
  void shouldNotSendKeys() {
    String key = AccessKey.random().value();

    assertThatThrownBy(() -> ask(key)).hasMessage("The token is malformed");

    assertThat(asked).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'active':'true','sub':'a','aud':'A','exp':9999999999} | The token is not active",
        "{'sub':'a','aud':'A','exp':9999999999} | The token is not active",
        "{'active':true,'aud':'A','exp':9999999999} | The token has no subject or no expiry",
        "{'active':true,'sub':'a','aud':'A'} | The token has no subject or no expiry",
        "{'active':true,'sub':'','aud':'A','exp':9999999999} | The token's subject is too long",
        "{'active':true,'sub':'a','aud':'A','exp':1} | The token has expired",
        "{'active':true,'sub':'a','aud':'A','exp':9999999999,'nbf':9999999998} | The token is not valid yet",
        "{'active':true,'sub':'a','aud':'B','exp':9999999999} | The token is for another resource",
        "{'active':true,'sub':'a','exp':9999999999} | The token is for another resource",
        "{'active':true,'sub':'a','aud':'A','exp':'soon'} | The token is malformed",
        "{'active':true,'sub':'a','aud':'A','exp':9999999999,'iss':'http://b'} | The token's issuer is not known here",
      })
  void shouldCheckWhatTheIssuerSays(String said, String reason) {
    answer = said.replace('\'', '"').replace("\"A\"", "\"" + HERE.iterator().next() + "\"");

    assertThatThrownBy(() -> ask("token"))
        .isInstanceOf(TokenRefusedException.Invalid.class)
        .hasMessage(reason);
  }

  @Test
  void shouldRefuseALongSubject() {
    answer = active(",\"sub\":\"" + "a".repeat(257) + "\"");

    assertThatThrownBy(() -> ask("token")).isInstanceOf(TokenRefusedException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {204, 302, 401, 403, 404, 500, 503})
  void shouldSayThatTheIssuerIsAway(int given) {
    status = given;
    answer = "";

    assertThatThrownBy(() -> ask("token"))
        .isInstanceOf(TokenRefusedException.IssuerAway.class)
        .hasMessageContaining("status " + given);
    assertThat(tokens.problems().get(ISSUER)).get().asString().contains("status " + given);

    status = 200;
    answer = active("");
    assertThat(ask("token").principal().subject()).isEqualTo("alice");
    assertThat(tokens.problems()).containsValue(Optional.empty());
  }

  /** Providers answer so to tokens whose form they do not like. */
  @Test
  void shouldTellRefusedTokensFromARefusedGateway() {
    status = 400;
    answer = "{\"error\":\"unsupported_token_type\"}";
    assertThatThrownBy(() -> ask("a.b.c.d.e")).hasMessage("The token is not active");

    answer = "{\"error\":\"invalid_client\"}";
    assertThatThrownBy(() -> ask("token"))
        .isInstanceOf(TokenRefusedException.IssuerAway.class)
        .hasMessageContaining("status 400");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "no JSON", "[]", "{\"active\":true"})
  void shouldNotTrustAMalformedAnswer(String malformed) {
    answer = malformed;

    assertThatThrownBy(() -> ask("secret-token"))
        .isInstanceOf(TokenRefusedException.IssuerAway.class)
        .hasMessageNotContaining("secret");
  }

  @Test
  void shouldReadABoundedAnswer() {
    answer = active(",\"more\":\"" + "a".repeat(JsonHttp.MAX_BYTES) + "\"");

    assertThatThrownBy(() -> ask("token"))
        .isInstanceOf(TokenRefusedException.IssuerAway.class)
        .hasMessageContaining("more than");
  }

  /** An issuer may revoke a token, and may let in one that it has refused. */
  @Test
  void shouldAskAgainWhenWhatItRemembersIsTooOld() {
    ask("good");
    String good = answer;
    answer = "{\"active\":false}";
    assertThatThrownBy(() -> ask("bad")).hasMessage("The token is not active");
    asked.clear();

    now = now.plusSeconds(10).minusNanos(1);
    assertThatThrownBy(() -> ask("bad")).hasMessage("The token is not active");
    assertThat(asked).isEmpty();
    now = now.plusNanos(1);
    assertThatThrownBy(() -> ask("bad")).hasMessage("The token is not active");
    assertThat(asked).hasSize(1);

    now = now.plusSeconds(20).minusNanos(1);
    ask("good");
    assertThat(asked).hasSize(1);
    now = now.plusNanos(1);
    answer = good;
    ask("good");
    assertThat(asked).hasSize(2);
  }

  /** Otherwise requests of clients would wait for ever. */
  @Test
  void shouldNotWaitForASilentIssuer() {
    waits = true;

    assertTimesOut();
  }

  private void assertTimesOut() {
    assertThatThrownBy(() -> ask("token"))
        .isInstanceOf(TokenRefusedException.IssuerAway.class)
        .hasMessageContaining("timed out");
  }

  /** The time limit is that of a whole answer, not only of its head. */
  @Test
  void shouldNotWaitForTheRestOfAnAnswer() {
    stalls = true;

    assertTimesOut();
  }

  /** As many as there are connections. */
  @Test
  void shouldGiveBackTheConnectionsOfStalledAnswers() {
    JsonHttp hasty = new JsonHttp(vertx, Duration.ofSeconds(3), _ -> {});
    URI url = settings().endpoint().orElseThrow();
    stalls = true;
    List<Future<?>> stalled =
        IntStream.range(0, JsonHttp.MAX_CONNECTIONS)
            .<Future<?>>mapToObj(_ -> threads.submit(() -> hasty.get(url, 10_000, 0)))
            .toList();
    assertThat(stalled)
        .allSatisfy(each -> assertThatThrownBy(each::get).hasCauseInstanceOf(TokenException.class));

    stalls = false;

    assertThat(hasty.get(url, 10_000, 0).status()).isEqualTo(200);
  }

  /** A server that is in trouble must not get a request for each token. */
  @Test
  void shouldPauseAfterAFailure() {
    breaksOff = true;
    assertThatThrownBy(() -> ask("first")).isInstanceOf(TokenRefusedException.IssuerAway.class);
    asked.clear();

    for (int n = 0; n < 1000; n++) {
      String token = "token" + n;
      assertThatThrownBy(() -> ask(token)).isInstanceOf(TokenRefusedException.IssuerAway.class);
    }

    // A pause of three seconds may end in between.
    assertThat(asked).hasSizeLessThan(100);
    breaksOff = false;
    await()
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(ask("good").principal().subject()).isEqualTo("alice"));
  }
}
