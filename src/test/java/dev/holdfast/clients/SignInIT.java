package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.BrowserVisit;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.OpenIdProvider;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.StdioProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The bridge signs a person in at the issuer of a gateway, and keeps the tokens. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class SignInIT {

  private static final Duration LONG = Duration.ofSeconds(40);
  private static final Pattern PAGE =
      Pattern.compile("sign in with a browser url=(http://127\\.0\\.0\\.1:\\S+)");

  private static OpenIdProvider issuer;
  private static NodeFixture server;
  private static Gateway gateway;

  @TempDir private Path state;

  /** Tokens for the upstream {@code brief} live for four seconds. */
  @BeforeAll
  static void start() {
    int port = Ports.free();
    issuer = OpenIdProvider.start();
    server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
    Map<String, String> settings = new HashMap<>();
    settings.put("quarkus.http.port", Integer.toString(port));
    settings.put("holdfast.stream.retry", "100ms");
    settings.put("holdfast.upstream.url", server.url().toString());
    settings.put("holdfast.upstream.scope", "tools");
    settings.put("holdfast.upstreams.brief.url", server.url().toString());
    settings.put("holdfast.upstreams.brief.scope", "brief");
    settings.put("holdfast.auth.issuers.test.url", issuer.issuer());
    settings.put("holdfast.auth.public-url", "http://127.0.0.1:" + port);
    gateway = Gateway.start(settings);
  }

  @AfterAll
  static void stop() {
    gateway.close();
    server.close();
    issuer.close();
  }

  private StdioProgram bridge(URI url, String... options) {
    List<String> command =
        new ArrayList<>(List.of("env", "XDG_STATE_HOME=" + state, "PATH=" + path()));
    List<String> words = new ArrayList<>(List.of("stdio", "--url", url.toString()));
    words.addAll(List.of(options));
    command.addAll(PackagedProgram.command(words.toArray(String[]::new)));
    return new StdioProgram(command);
  }

  /** With the opener of a test first. */
  private String path() {
    return state + ":" + System.getenv("PATH");
  }

  private static void begin(StdioProgram bridge) {
    bridge.say(McpClient.initialize(McpClient.NEWEST, "test"));
  }

  private static List<URI> pages(StdioProgram bridge) {
    return bridge.errors().stream()
        .map(PAGE::matcher)
        .filter(Matcher::find)
        .map(found -> URI.create(found.group(1)))
        .toList();
  }

  private static URI page(StdioProgram bridge) {
    await()
        .atMost(LONG)
        .failFast("no sign-in was needed", () -> bridge.hasResponse(0))
        .until(() -> !pages(bridge).isEmpty());
    return pages(bridge).getFirst();
  }

  private static void signIn(StdioProgram bridge) {
    begin(bridge);
    HttpResponse<String> last = BrowserVisit.open(page(bridge));
    assertThat(last.body()).as(issuer.output()).contains("has reached Holdfast");
    assertThat(bridge.response(0).has("result")).as(bridge.toString()).isTrue();
    bridge.say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
  }

  private static String text(JsonNode response) {
    return response.at("/result/content/0/text").asText();
  }

  private List<Path> files() {
    try (Stream<Path> files = Files.list(state.resolve("holdfast"))) {
      return files.toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String permissions(Path file) {
    try {
      return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void shouldSignInOnceAndKeepTheTokensForTheNextStart() throws IOException {
    try (StdioProgram bridge = bridge(gateway.url(), "--no-browser")) {
      signIn(bridge);
      bridge.call(1, "count", "{\"n\":3,\"intervalMs\":10}");
      assertThat(bridge.response(1).has("result")).as(bridge.toString()).isTrue();
      assertThat(bridge.end()).isZero();
    }
    assertThat(permissions(state.resolve("holdfast"))).isEqualTo("rwx------");
    assertThat(files()).hasSize(2).allMatch(file -> permissions(file).equals("rw-------"));
    Path tokens =
        files().stream()
            .filter(file -> file.toString().endsWith(".json"))
            .findFirst()
            .orElseThrow();
    String json = Files.readString(tokens);
    try (StdioProgram again = bridge(gateway.url(), "--no-browser").handshake()) {
      again.call(1, "count", "{\"n\":3,\"intervalMs\":10}");
      assertThat(text(again.response(1))).as(again.toString()).isEqualTo("counted 3");
      assertThat(pages(again)).isEmpty();
      assertThat(again.end()).isZero();
      assertThat(again.toString()).doesNotContain("eyJ");
    }
    assertThat(Files.readString(tokens)).isEqualTo(json);
  }

  /** Its tokens end every four seconds, in the middle of the call too. */
  @Test
  void shouldRenewTheTokenWithoutThePerson() {
    try (StdioProgram bridge = bridge(gateway.url("/servers/brief/mcp"), "--no-browser")) {
      signIn(bridge);
      bridge.call(1, "count", "{\"n\":60,\"intervalMs\":150}");

      assertThat(text(bridge.response(1))).as(bridge.toString()).isEqualTo("counted 60");
      assertThat(bridge.progress(1)).hasSize(60);
      assertThat(pages(bridge)).hasSize(1);
      bridge.call(2, "count", "{\"n\":3,\"intervalMs\":10}");
      assertThat(bridge.response(2).has("result")).as(bridge.toString()).isTrue();
      assertThat(pages(bridge)).hasSize(1);
    }
  }

  @Test
  void shouldTakeOnlyTheAnswerToItsOwnQuestion() {
    try (StdioProgram bridge = bridge(gateway.url(), "--no-browser")) {
      begin(bridge);
      URI page = page(bridge);
      Matcher redirect =
          Pattern.compile("redirect_uri=http%3A%2F%2F127\\.0\\.0\\.1%3A(\\d+)")
              .matcher(page.toString());
      assertThat(redirect.find()).as(page.toString()).isTrue();
      URI forged = URI.create("http://127.0.0.1:" + redirect.group(1) + "/callback?code=a&state=b");

      HttpResponse<String> refused = BrowserVisit.open(forged);

      assertThat(refused.statusCode()).isEqualTo(400);
      assertThat(bridge.hasResponse(0)).isFalse();
      assertThat(BrowserVisit.open(page).statusCode()).isEqualTo(200);
      assertThat(bridge.response(0).has("result")).as(bridge.toString()).isTrue();
    }
  }

  @Test
  void shouldOpenTheBrowser() throws IOException {
    Path opened = state.resolve("opened");
    Path opener = state.resolve("xdg-open");
    Files.writeString(opener, "#!/bin/sh\necho \"$1\" > '%s'\n".formatted(opened));
    Files.setPosixFilePermissions(opener, PosixFilePermissions.fromString("rwx------"));
    try (StdioProgram bridge = bridge(gateway.url())) {
      begin(bridge);
      URI page = page(bridge);
      await()
          .atMost(LONG)
          .until(() -> Files.exists(opened) && Files.readString(opened).endsWith("\n"));

      assertThat(opened).hasContent(page.toString());
      assertThat(bridge.messages()).isEmpty();
    }
  }

  /** Two clients of one person start at the same time; one browser page is enough. */
  @Test
  void shouldShareTheSignInOfAnotherBridge() {
    try (StdioProgram first = bridge(gateway.url(), "--no-browser");
        StdioProgram second = bridge(gateway.url(), "--no-browser")) {
      begin(first);
      begin(second);
      await().atMost(LONG).until(() -> !pages(first).isEmpty() || !pages(second).isEmpty());
      StdioProgram asking = pages(first).isEmpty() ? second : first;
      BrowserVisit.open(pages(asking).getFirst());

      assertThat(first.response(0).has("result")).as(first.toString()).isTrue();
      assertThat(second.response(0).has("result")).as(second.toString()).isTrue();
      assertThat(pages(first).size() + pages(second).size()).isEqualTo(1);
    }
  }
}
