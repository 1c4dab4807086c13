package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Certificates;
import dev.holdfast.testing.Certificates.Identity;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.ProcessResult;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.TraceReceiver;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TLS of clients, upstreams and Redis, with certificates of both sides and their renewal. */
@Tag("long")
@Timeout(120)
class TlsIT {

  private static final Pattern PORT = Pattern.compile("Listening on: https://[^:]+:(\\d+)");
  private static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
          + "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}";
  private static final String CALL =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"slow\"}}";

  @TempDir Path directory;

  /** Lets the call at the upstream end. */
  private final CompletableFuture<Void> callMayEnd = new CompletableFuture<>();

  /** Subjects of the certificates that the upstream has seen, with each request. */
  private final List<String> seen = new CopyOnWriteArrayList<>();

  @SuppressWarnings("NullAway.Init")
  private Certificates authority;

  @SuppressWarnings("NullAway.Init")
  private Certificates stranger;

  @BeforeEach
  void makeAuthorities() {
    authority = new Certificates(directory, "ours");
    stranger = new Certificates(directory, "theirs");
  }

  @AfterEach
  void endCall() {
    callMayEnd.complete(null);
  }

  private void serve(ScriptedRequest request, RawConnection wire) throws IOException {
    if (request.method().equals("GET")) {
      wire.answer(405, "", "");
    } else if (request.body().contains("\"initialize\"")) {
      String opened =
          "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\"}}";
      wire.answer(200, "application/json", result(0, opened), "Mcp-Session-Id: up-1");
    } else if (request.body().contains("tools/call")) {
      wire.beginEvents().chunk("data: {\"jsonrpc\":\"2.0\",\"method\":\"begun\"}\n\n");
      callMayEnd.join();
      wire.chunk("data: " + result(1, "{\"content\":[]}") + "\n\n").endChunks();
    } else {
      wire.answer(202, "", "");
    }
  }

  private void serveWithTls(ScriptedRequest request, RawConnection wire) throws IOException {
    seen.add(wire.clientCertificate());
    serve(request, wire);
  }

  private static String result(int id, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}".formatted(id, result);
  }

  /** The keys of a TLS configuration. A shorter period would take all of a slow machine. */
  private static Map<String, String> tls(String name, Identity shown, Certificates trusted) {
    String key = "quarkus.tls." + name + ".";
    return Map.of(
        key + "key-store.pem.0.cert",
        shown.certificate().toString(),
        key + "key-store.pem.0.key",
        shown.key().toString(),
        key + "trust-store.pem.certs",
        trusted.certificate().toString(),
        key + "reload-period",
        "2s");
  }

  private static HttpClient client(SSLContext tls) {
    return HttpClient.newBuilder().sslContext(tls).build();
  }

  private static <T> HttpResponse<T> post(
      HttpClient client, URI url, String body, BodyHandler<T> handler, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    return client.send((headers.length == 0 ? request : request.headers(headers)).build(), handler);
  }

  private static String subject(HttpResponse<?> response) throws Exception {
    var shown = response.sslSession().orElseThrow().getPeerCertificates()[0];
    return ((X509Certificate) shown).getSubjectX500Principal().getName();
  }

  private static void awaitLine(BufferedReader stream, String text) throws IOException {
    for (String line = stream.readLine(); line != null; line = stream.readLine()) {
      if (line.contains(text)) {
        return;
      }
    }
    throw new AssertionError("The stream ended without " + text);
  }

  @Test
  void shouldRequireCertificatesOfClientsAndRenewItsOwn() throws Exception {
    Identity own = authority.issue("gateway-1");
    Identity client = authority.issue("client");
    Map<String, String> settings = new HashMap<>(tls("in", own, authority));
    settings.put("quarkus.http.tls-configuration-name", "in");
    settings.put("quarkus.http.ssl-port", "0");
    settings.put("quarkus.http.insecure-requests", "disabled");
    settings.put("holdfast.http.require-client-certificate", "true");
    try (ScriptedServer upstream = ScriptedServer.playing(this::serve)) {
      settings.put("holdfast.upstream.url", upstream.url().toString());
      try (Gateway gateway = Gateway.start(settings)) {
        URI url = tlsUrl(gateway);
        for (SSLContext refused :
            List.of(authority.context(null), authority.context(stranger.issue("client-2")))) {
          assertThatExceptionOfType(IOException.class)
              .isThrownBy(() -> post(client(refused), url, INITIALIZE, BodyHandlers.ofString()));
        }
        assertThatExceptionOfType(SSLException.class)
            .isThrownBy(() ->
                post(client(stranger.context(client)), url, INITIALIZE, BodyHandlers.ofString()));
        assertThat(upstream.requests()).isEmpty();

        HttpClient http = client(authority.context(client));
        HttpResponse<String> opened = post(http, url, INITIALIZE, BodyHandlers.ofString());
        assertThat(opened.statusCode()).isEqualTo(200);
        assertThat(subject(opened)).isEqualTo("CN=gateway-1");
        assertThat(opened.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
        String session = opened.headers().firstValue("Mcp-Session-Id").orElseThrow();
        HttpResponse<InputStream> call =
            post(http, url, CALL, BodyHandlers.ofInputStream(), "Mcp-Session-Id", session);
        BufferedReader stream = lines(call);
        awaitLine(stream, "begun");

        own.renew(authority.issue("gateway-2"));
        await()
            .ignoreExceptionsInstanceOf(SSLException.class)
            .untilAsserted(() -> {
              HttpClient another = client(authority.context(client));
              HttpResponse<String> later = post(another, url, INITIALIZE, BodyHandlers.ofString());
              assertThat(subject(later)).isEqualTo("CN=gateway-2");
            });
        callMayEnd.complete(null);
        awaitLine(stream, "\"content\"");
      }
    }
  }

  private static BufferedReader lines(HttpResponse<InputStream> response) {
    return new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
  }

  private static URI tlsUrl(Gateway gateway) {
    Matcher port = PORT.matcher(gateway.output());
    assertThat(port.find()).as(gateway.output()).isTrue();
    return URI.create("https://127.0.0.1:" + port.group(1) + "/mcp");
  }

  @Test
  void shouldShowItsCertificateToUpstreamsAndRenewIt() throws Exception {
    Identity own = authority.issue("gateway-1");
    SSLContext upstreamTls = authority.context(authority.issue("upstream"));
    SSLContext misnamed = authority.context(authority.issue("misnamed", "dns:elsewhere.example"));
    try (ScriptedServer upstream = ScriptedServer.withTls(upstreamTls, this::serveWithTls);
        ScriptedServer other = ScriptedServer.withTls(misnamed, this::serveWithTls)) {
      Map<String, String> settings = new HashMap<>(tls("out", own, authority));
      settings.putAll(tls("foreign", own, stranger));
      settings.putAll(tls("unknown", stranger.issue("gateway-3"), authority));
      settings.put("holdfast.upstream.url", upstream.url().toString());
      settings.put("holdfast.upstream.tls", "out");
      settings.put("holdfast.upstreams.plain.url", upstream.url().toString());
      settings.put("holdfast.upstreams.distrusting.url", upstream.url().toString());
      settings.put("holdfast.upstreams.distrusting.tls", "foreign");
      settings.put("holdfast.upstreams.untrusted.url", upstream.url().toString());
      settings.put("holdfast.upstreams.untrusted.tls", "unknown");
      settings.put("holdfast.upstreams.misnamed.url", other.url().toString());
      settings.put("holdfast.upstreams.misnamed.tls", "out");
      try (Gateway gateway = Gateway.start(settings)) {
        for (String name : List.of("plain", "distrusting", "untrusted", "misnamed")) {
          URI url = gateway.url("/servers/" + name + "/mcp");
          assertThat(McpClient.at(url).initialized().statusCode()).as(name).isEqualTo(502);
        }
        assertThat(seen).isEmpty();

        McpClient client = McpClient.at(gateway.url());
        assertThat(client.initialized().statusCode()).as(gateway.output()).isEqualTo(200);
        assertThat(seen).containsOnly("CN=gateway-1");
        try (var stream = client.call("slow", "{}")) {
          await().until(() -> stream.raw().contains("begun"));
          own.renew(authority.issue("gateway-2"));
          // Longer than an idle connection lives: an earlier request would use it again.
          await()
              .pollInterval(Duration.ofSeconds(4))
              .untilAsserted(() -> {
                assertThat(McpClient.at(gateway.url()).initialized().statusCode()).isEqualTo(200);
                assertThat(seen).contains("CN=gateway-2");
              });
          callMayEnd.complete(null);
          await().until(() -> stream.raw().contains("\"content\""));
        }
      }
    }
  }

  private void issueToken(ScriptedRequest request, RawConnection wire) throws IOException {
    seen.add(wire.clientCertificate());
    String token = "{\"access_token\":\"a\",\"token_type\":\"Bearer\",\"expires_in\":1}";
    wire.answer(200, "application/json", token, "Connection: close").close();
  }

  @Test
  void shouldShowItsCertificateToTokenEndpointsAndRenewIt() throws Exception {
    Identity own = authority.issue("gateway-1");
    SSLContext loginTls = authority.context(authority.issue("login"));
    try (ScriptedServer login = ScriptedServer.withTls(loginTls, this::issueToken);
        ScriptedServer upstream = ScriptedServer.playing(this::serve)) {
      Map<String, String> settings = new HashMap<>(tls("out", own, authority));
      settings.putAll(tls("foreign", own, stranger));
      for (String name : List.of("out", "foreign")) {
        String prefix = "holdfast.upstreams." + name + ".";
        settings.put(prefix + "url", upstream.url().toString());
        settings.put(prefix + "authorization", "client-credentials");
        settings.put(prefix + "token.endpoint", login.url().toString());
        settings.put(prefix + "token.client-id", "holdfast");
        settings.put(prefix + "token.client-secret", "secret");
        settings.put(prefix + "token.tls", name);
      }
      try (Gateway gateway = Gateway.start(settings)) {
        URI foreign = gateway.url("/servers/foreign/mcp");
        assertThat(McpClient.at(foreign).initialized().statusCode()).isEqualTo(502);
        assertThat(seen).isEmpty();

        URI out = gateway.url("/servers/out/mcp");
        assertThat(McpClient.at(out).initialized().statusCode()).isEqualTo(200);
        assertThat(seen).containsOnly("CN=gateway-1");
        own.renew(authority.issue("gateway-2"));
        await()
            .untilAsserted(() -> {
              assertThat(McpClient.at(out).initialized().statusCode()).isEqualTo(200);
              assertThat(seen).contains("CN=gateway-2");
            });
      }
    }
  }

  private void refuseToken(ScriptedRequest request, RawConnection wire) throws IOException {
    seen.add(wire.clientCertificate());
    wire.answer(200, "application/json", "{\"active\":false}", "Connection: close").close();
  }

  @Test
  void shouldShowItsCertificateToIssuersAndRenewIt() throws Exception {
    Identity own = authority.issue("gateway-1");
    SSLContext loginTls = authority.context(authority.issue("login"));
    SSLContext receiverTls = authority.context(authority.issue("receiver"));
    try (ScriptedServer login = ScriptedServer.withTls(loginTls, this::refuseToken);
        TraceReceiver receiver = TraceReceiver.withTls(receiverTls);
        ScriptedServer upstream = ScriptedServer.playing(this::serve)) {
      Map<String, String> settings = new HashMap<>(tls("out", own, authority));
      String issuer = "holdfast.auth.issuers.corp.";
      settings.put(issuer + "url", "https://127.0.0.1");
      settings.put(issuer + "tls", "out");
      settings.put(issuer + "introspection.endpoint", login.url().toString());
      settings.put(issuer + "introspection.client-id", "holdfast");
      settings.put(issuer + "introspection.client-secret", "secret");
      settings.put("holdfast.auth.public-url", "https://mcp.example.com");
      settings.put("holdfast.trace.endpoint", receiver.url().toString());
      settings.put("holdfast.trace.tls", "out");
      settings.put("holdfast.trace.headers.api-key", "k-1");
      settings.put("holdfast.upstream.url", upstream.url().toString());
      try (Gateway gateway = Gateway.start(settings)) {
        assertThat(statusWithToken(gateway)).as(gateway.output()).isEqualTo(401);
        assertThat(seen).containsOnly("CN=gateway-1");
        own.renew(authority.issue("gateway-2"));
        await()
            .untilAsserted(() -> {
              assertThat(statusWithToken(gateway)).isEqualTo(401);
              assertThat(seen).contains("CN=gateway-2");
            });
        receiver.await(span -> span.name().equals("POST"));
        assertThat(receiver.headers("api-key")).containsOnly("k-1");
      }
    }
  }

  /** Names a plain server as the one to ask about tokens. */
  private static void describe(ScriptedRequest request, RawConnection wire, URI plain)
      throws IOException {
    String metadata =
        """
        {"issuer":"https://%s/mcp","jwks_uri":"%2$s/keys","introspection_endpoint":"%2$s/ask"}\
        """
            .formatted(request.header("host"), plain);
    wire.answer(200, "application/json", metadata);
  }

  /** Anybody on the way would see the token, and the secret of the gateway. */
  @Test
  void shouldAskAboutTokensOverTlsOnly() throws Exception {
    Identity own = authority.issue("gateway-1");
    SSLContext loginTls = authority.context(authority.issue("login"));
    try (ScriptedServer plain = ScriptedServer.playing(this::refuseToken);
        ScriptedServer login =
            ScriptedServer.withTls(
                loginTls, (request, wire) -> describe(request, wire, plain.url()));
        ScriptedServer upstream = ScriptedServer.playing(this::serve)) {
      Map<String, String> settings = new HashMap<>(tls("out", own, authority));
      String issuer = "holdfast.auth.issuers.corp.";
      settings.put(issuer + "url", login.url().toString());
      settings.put(issuer + "tls", "out");
      settings.put(issuer + "introspection.client-id", "holdfast");
      settings.put(issuer + "introspection.client-secret", "secret");
      settings.put("holdfast.auth.public-url", "https://mcp.example.com");
      settings.put("holdfast.upstream.url", upstream.url().toString());
      try (Gateway gateway = Gateway.start(settings)) {
        assertThat(statusWithToken(gateway)).as(gateway.output()).isEqualTo(503);
        assertThat(login.requests()).isNotEmpty();
        assertThat(plain.requests()).isEmpty();
      }
    }
  }

  /** Sends another token each time: the gateway remembers those that are refused. */
  private static int statusWithToken(Gateway gateway) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      String token = "Bearer " + UUID.randomUUID();
      return post(http, gateway.url(), INITIALIZE, BodyHandlers.ofString(), "Authorization", token)
          .statusCode();
    }
  }

  @Test
  void shouldShowItsCertificateToRedisAndRenewIt() throws Exception {
    Identity own = authority.issue("gateway-1");
    int port = Ports.free();
    try (RedisFixture redis =
        RedisFixture.startWithTls(port, authority.issue("redis"), authority.certificate())) {
      Map<String, String> settings = new HashMap<>(tls("redis", own, authority));
      settings.put("holdfast.store", "redis");
      settings.put("quarkus.redis.hosts", "rediss://127.0.0.1:" + port);
      settings.put("quarkus.redis.tls-configuration-name", "redis");
      try (Gateway gateway = Gateway.start(settings)) {
        await()
            .untilAsserted(() ->
                assertThat(McpClient.at(gateway.url()).initialized().statusCode())
                    .as(gateway.output())
                    .isEqualTo(200));

        // From now on, Redis refuses the first certificate.
        String clients = stranger.certificate().toString();
        assertThat(redis.command("CONFIG", "SET", "tls-ca-cert-file", clients)).isEqualTo("+OK");
        redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        assertThat(McpClient.at(gateway.url()).initialized().statusCode()).isEqualTo(503);
        own.renew(stranger.issue("gateway-2"));

        await()
            .untilAsserted(() ->
                assertThat(McpClient.at(gateway.url()).initialized().statusCode()).isEqualTo(200));
      }
    }
  }

  @Test
  void shouldNotStartHalfConfigured() {
    Identity own = authority.issue("gateway-1");
    Path certificate = own.certificate();
    assertRefused(
        "holdfast.http.require-client-certificate (command line) needs"
            + " quarkus.http.insecure-requests=disabled",
        "holdfast.http.require-client-certificate=true");
    assertRefused(
        "needs the authority of the clients",
        "holdfast.http.require-client-certificate=true",
        "quarkus.http.insecure-requests=disabled",
        "quarkus.http.ssl-port=0",
        "quarkus.http.tls-configuration-name=in",
        "quarkus.tls.in.key-store.pem.0.cert=" + certificate,
        "quarkus.tls.in.key-store.pem.0.key=" + own.key());
    assertRefused(
        "names the TLS configuration out, and there is none: set such as quarkus.tls.out.",
        "holdfast.upstream.tls=out",
        "holdfast.upstream.url=https://127.0.0.1:1/mcp");
    assertRefused(
        "holdfast.upstream.tls (command line) has no use unless url begins with https://",
        "holdfast.upstream.tls=out",
        "holdfast.upstream.url=http://127.0.0.1:1/mcp");
    assertRefused(
        "needs holdfast.upstream.url",
        "holdfast.upstream.tls=out",
        "holdfast.upstream.command=cat");
  }

  private static void assertRefused(String message, String... settings) {
    List<String> options = PackagedProgram.shortLived("-Xmx256m", "-Dquarkus.http.port=0");
    List<String> all = new ArrayList<>(options);
    List.of(settings).forEach(setting -> all.add("-D" + setting));
    ProcessResult result =
        PackagedProgram.run(Path.of("."), Map.of(), PackagedProgram.command(all, List.of()));
    assertThat(result.exitCode()).as(result.toString()).isNotZero();
    assertThat(result.stdout() + result.stderr()).contains(message);
  }
}
