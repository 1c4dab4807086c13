package dev.holdfast.auth;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.holdfast.call.Caller;
import dev.holdfast.oauth.JsonHttp;
import dev.holdfast.testing.Certificates;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.net.PemTrustOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.jose4j.jwk.JsonWebKey.OutputControlLevel;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What an issuer with a certificate of a company's own authority says about itself. */
class IssuerMetadataTest {

  private static final String CLIENT = "192.0.2.0/24";
  private static final Set<String> HERE = Set.of("https://mcp.example.com/mcp");
  private static final String OPENID = "/.well-known/openid-configuration";
  private static final String OAUTH = "/.well-known/oauth-authorization-server";

  @SuppressWarnings("NullAway.Init")
  private static SSLContext tls;

  @SuppressWarnings("NullAway.Init")
  private static Certificates authority;

  @SuppressWarnings("NullAway.Init")
  private static RsaJsonWebKey key;

  /** Longer than any pause of a busy machine. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Map<String, String> documents = new ConcurrentHashMap<>();
  private final Map<String, String> redirects = new ConcurrentHashMap<>();
  private final List<String> asked = new CopyOnWriteArrayList<>();

  /** Closed while the server answers nothing. */
  private volatile CountDownLatch gate = new CountDownLatch(0);

  private final Vertx vertx = Vertx.vertx();

  @SuppressWarnings("NullAway.Init")
  private HttpServer secure;

  @SuppressWarnings("NullAway.Init")
  private HttpServer plain;

  @BeforeAll
  static void make(@TempDir Path directory) throws JoseException {
    authority = new Certificates(directory, "company");
    tls = authority.context(authority.issue("issuer"));
    key = RsaJwkGenerator.generateJwk(2048);
    key.setKeyId("k");
  }

  @BeforeEach
  void serve() throws IOException {
    HttpsServer https = HttpsServer.create(loopback(), 0);
    https.setHttpsConfigurator(new HttpsConfigurator(tls));
    secure = started(https, "");
    plain = started(HttpServer.create(loopback(), 0), "plain ");
  }

  private static InetSocketAddress loopback() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  private HttpServer started(HttpServer server, String name) {
    server.createContext("/", exchange -> answer(exchange, name));
    server.start();
    return server;
  }

  private void answer(HttpExchange exchange, String server) throws IOException {
    String path = exchange.getRequestURI().getPath();
    asked.add(server + path);
    try {
      gate.await();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    String document = documents.get(path);
    String elsewhere = redirects.get(path);
    if (elsewhere != null) {
      exchange.getResponseHeaders().set("Location", elsewhere);
      exchange.sendResponseHeaders(302, -1);
      exchange.close();
      return;
    }
    byte[] body = document == null ? new byte[0] : document.getBytes(UTF_8);
    exchange.sendResponseHeaders(document == null ? 404 : 200, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @AfterEach
  void stop() {
    gate.countDown();
    secure.stop(0);
    plain.stop(0);
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private String issuer() {
    return "https://127.0.0.1:" + secure.getAddress().getPort();
  }

  private String plainUrl() {
    return "http://127.0.0.1:" + plain.getAddress().getPort();
  }

  private void publish(String field, String location) {
    documents.put(OPENID, "{\"issuer\":\"%s\",\"%s\":\"%s\"}".formatted(issuer(), field, location));
    documents.put("/keys", new JsonWebKeySet(key).toJson(OutputControlLevel.PUBLIC_ONLY));
  }

  private String token() throws JoseException {
    JwtClaims claims = new JwtClaims();
    claims.setIssuer(issuer());
    claims.setSubject("alice");
    claims.setAudience(HERE.iterator().next());
    claims.setExpirationTimeMinutesInTheFuture(10);
    JsonWebSignature token = new JsonWebSignature();
    token.setPayload(claims.toJson());
    token.setKey(key.getPrivateKey());
    token.setKeyIdHeaderValue("k");
    token.setAlgorithmHeaderValue(AlgorithmIdentifiers.RSA_USING_SHA256);
    return token.getCompactSerialization();
  }

  private Caller caller(
      String token, @Nullable IntrospectionSettings introspection, JsonHttp http) {
    return new AccessTokens(
            List.of(new TokenIssuer(issuer(), introspection, http)), InstantSource.system())
        .caller(token, HERE, CLIENT);
  }

  private JsonHttp trusting() {
    PemTrustOptions company = new PemTrustOptions().addCertPath(authority.certificate().toString());
    return http(options -> options.setTrustOptions(company));
  }

  private JsonHttp http(Consumer<HttpClientOptions> trust) {
    return new JsonHttp(vertx, PATIENCE, trust);
  }

  @Test
  void shouldTrustTheAuthorityThatIsConfigured() throws JoseException {
    publish("jwks_uri", issuer() + "/keys");
    String token = token();

    assertThat(caller(token, null, trusting()).principal().subject()).isEqualTo("alice");

    assertThatThrownBy(() -> caller(token, null, http(_ -> {})))
        .isInstanceOf(TokenRefusedException.IssuerAway.class);
  }

  /** Anybody on the way could replace the keys. Before, the token was accepted. */
  @Test
  void shouldNotReadKeysOverPlainHttp() throws JoseException {
    publish("jwks_uri", plainUrl() + "/keys");
    String token = token();

    assertThatThrownBy(() -> caller(token, null, trusting()))
        .isInstanceOf(TokenRefusedException.IssuerAway.class);

    assertThat(asked).containsExactly(OPENID);
  }

  /** Anybody on the way could read the token, and the secret of the gateway. */
  @Test
  void shouldNotAskAboutTokensOverPlainHttp() {
    publish("introspection_endpoint", plainUrl() + "/ask");
    IntrospectionSettings named = new IntrospectionSettings(null, "id", "secret", false);

    assertThatThrownBy(() -> caller("opaque", named, trusting()))
        .isInstanceOf(TokenRefusedException.IssuerAway.class)
        .hasMessageContaining("introspection_endpoint must begin with https://");

    assertThat(asked).containsExactly(OPENID);
  }

  /** Before, the gateway sent its secret to any machine that the metadata named. */
  @Test
  void withoutTlsShouldUseOnlyUrlsOfThisMachine() {
    documents.put(
        OPENID,
        """
        {"issuer":"%1$s","introspection_endpoint":"%1$s/ask","jwks_uri":"http://192.0.2.1/keys"}\
        """
            .formatted(plainUrl()));
    IssuerMetadata metadata = new IssuerMetadata(plainUrl(), trusting());

    assertThat(metadata.location("introspection_endpoint")).hasToString(plainUrl() + "/ask");
    assertThatThrownBy(() -> metadata.location("jwks_uri"))
        .hasMessageContaining("jwks_uri must begin with https://");
  }

  /** Anybody on the way could replace the document. */
  @Test
  void shouldFollowRedirectsOverTlsOnly() {
    publish("jwks_uri", issuer() + "/keys");
    documents.put("/elsewhere", documents.remove(OPENID));
    redirects.put(OPENID, plainUrl() + "/elsewhere");
    assertThatThrownBy(() -> new IssuerMetadata(issuer(), trusting()).location("jwks_uri"))
        .hasMessageContaining("the redirect must begin with https://");
    redirects.put(OPENID, "/elsewhere");

    assertThat(new IssuerMetadata(issuer(), trusting()).location("jwks_uri"))
        .hasToString(issuer() + "/keys");

    assertThat(asked).containsExactly(OPENID, OPENID, "/elsewhere");
  }

  @Test
  void shouldTryThePlacesOnceAndInOrder() {
    IssuerMetadata metadata = new IssuerMetadata(issuer() + "/realms/a", trusting());

    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> metadata.location("jwks_uri"))
          .isInstanceOf(TokenRefusedException.IssuerAway.class);
    }

    assertThat(asked)
        .as(() -> String.valueOf(metadata.problem()))
        .containsExactly("/realms/a" + OPENID, OAUTH + "/realms/a");
    assertThat(metadata.problem()).get().asString().contains("status 404");
  }

  /** Strangers can send tokens with unknown keys as fast as they like. */
  @Test
  void shouldPauseAfterAFailedReadOfTheKeys() throws Exception {
    publish("jwks_uri", issuer() + "/keys");
    IssuerMetadata metadata = new IssuerMetadata(issuer(), trusting());
    String keys = metadata.keys().getBody();
    String published = String.valueOf(documents.remove("/keys"));
    asked.clear();

    for (int i = 0; i < 5; i++) {
      assertThat(metadata.keys().getBody()).isEqualTo(keys);
    }
    assertThat(asked).containsExactly("/keys");
    assertThat(metadata.problem()).isPresent();

    documents.put("/keys", published.replace("{", " {"));
    await().until(() -> !metadata.keys().getBody().equals(keys));
    assertThat(metadata.problem()).isEmpty();
  }

  @Test
  void shouldReadABoundedDocument() {
    publish("jwks_uri", issuer() + "/keys");
    documents.computeIfPresent(
        OPENID, (_, json) -> json + " ".repeat(IssuerMetadata.MAX_RESPONSE - json.length()));
    assertThat(new IssuerMetadata(issuer(), trusting()).location("jwks_uri"))
        .hasToString(issuer() + "/keys");

    documents.computeIfPresent(OPENID, (_, json) -> json + " ");

    IssuerMetadata metadata = new IssuerMetadata(issuer(), trusting());
    assertThatThrownBy(() -> metadata.location("jwks_uri"))
        .isInstanceOf(TokenRefusedException.IssuerAway.class);
  }

  /** Otherwise every request with a token would wait for ever. */
  @Test
  @Timeout(60)
  void shouldNotWaitForASilentIssuer() {
    gate = new CountDownLatch(1);
    publish("jwks_uri", issuer() + "/keys");

    IssuerMetadata metadata = new IssuerMetadata(issuer(), trusting());
    assertThatThrownBy(() -> metadata.location("jwks_uri"))
        .isInstanceOf(TokenRefusedException.IssuerAway.class)
        .hasMessageContaining("timed out");
  }
}
