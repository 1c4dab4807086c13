package dev.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.BrowserPage;
import dev.holdfast.testing.Chromium;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.RedisFixture;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The console as a browser shows it, with the demo tools and a server that is not there. */
@Timeout(120)
class ConsoleIT {

  private static final String HOSTILE = "<img src=x onerror=document.title='hacked'>";

  /** Where to write pictures for the documentation; by default nowhere. */
  private static final Optional<Path> PICTURES =
      Optional.ofNullable(System.getProperty("holdfast.pictures")).map(Path::of);

  private static RedisFixture redis;
  private static Gateway gateway;

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    gateway =
        Gateway.start(
            redis.gatewaySettings(
                "holdfast.upstreams.weather.url", "http://127.0.0.1:" + Ports.free() + "/mcp"));
  }

  @AfterAll
  static void stop() {
    gateway.close();
    redis.close();
  }

  private static URI console(String path) {
    return gateway.url("/q/health").resolve(path);
  }

  @Test
  void shouldShowTheGatewayAndEndASession() {
    McpClient agent = McpClient.at(gateway.url(), McpClient.NEWEST, "research-agent").ready();
    McpClient other = McpClient.at(gateway.url()).ready();
    countdown(agent, 3, 100).rest();
    try (FrameStream running = countdown(agent, 600, 1000);
        Chromium browser = Chromium.open(console("/"), "--hide-scrollbars");
        BrowserPage page = browser.page()) {
      running.event();
      page.show(375, 800, "light");

      page.waitFor("document.querySelectorAll('#sessions tr').length === 2");
      page.waitFor("document.querySelector('#upstreams').innerText.includes('down')");
      assertThat(text(page, "#upstreams")).contains("default", "weather", "/servers/weather/mcp");
      assertThat(text(page, "#replicas")).contains("(this one)");
      assertThat(text(page, "#sessions")).contains("research-agent");
      assertThat(page.run("document.documentElement.outerHTML").asText())
          .doesNotContain(agent.session(), other.session());

      click(page, "[aria-label*='Streams of'][aria-label*='research']");
      page.waitFor("document.querySelectorAll('#streams li').length >= 2");
      assertThat(text(page, "#streams")).contains("open", "complete, 4 events");

      click(page, "#cut");
      page.waitFor("document.querySelector('#demo-result').textContent !== ''");
      assertThat(text(page, "#demo-result")).startsWith("✓ 11 events").contains("liftoff");
      assertThat(numbers(page))
          .containsExactlyElementsOf(IntStream.rangeClosed(1, 11).boxed().toList());
      assertThat(text(page, "#demo")).contains("Connection broken", "Last-Event-ID");
      page.waitFor("document.querySelectorAll('#sessions tr').length === 3");

      assertThat(seriousViolations(page)).isEmpty();
      assertThat(page.run("document.documentElement.scrollWidth").asInt()).isLessThanOrEqualTo(375);
      page.show(375, 800, "dark");
      assertThat(seriousViolations(page)).isEmpty();
      takePictures(page);

      click(page, "[aria-label*='End'][aria-label*='test/1']");
      click(page, "dialog button[value=yes]");
      page.waitFor("document.querySelectorAll('#sessions tr').length === 2");
      assertThat(other.post("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}").statusCode())
          .isEqualTo(404);
    }
  }

  /** The second room is chosen while the module of the first one loads. */
  @Test
  void shouldOpenTheRoomThatWasChosenLast() {
    try (Chromium browser = Chromium.open(console("/"), "--hide-scrollbars");
        BrowserPage page = browser.page()) {
      page.waitFor("document.querySelector('#room-history') !== null");

      page.run(
          "addEventListener('hashchange', () => { location.hash = 'calls'; }, { once: true });"
              + "location.hash = 'history'");

      page.waitFor("document.querySelector('#calls-found') !== null");
    }
  }

  @Test
  void shouldShowTheNameOfAClientAsText() {
    McpClient hostile = McpClient.at(gateway.url(), McpClient.NEWEST, HOSTILE).ready();
    try (Chromium browser = Chromium.open(console("/"), "--hide-scrollbars");
        BrowserPage page = browser.page()) {
      page.waitFor("document.querySelector('#sessions')?.innerText.includes('onerror') === true");
      assertThat(text(page, "#sessions")).contains(HOSTILE);
      assertThat(page.run("document.documentElement.outerHTML").asText())
          .doesNotContain(hostile.session());

      click(page, "[aria-label*='Streams of'][aria-label*='img']");
      page.waitFor("document.querySelector('#streams-title').textContent.includes('onerror')");

      assertThat(page.run("document.querySelectorAll('img').length").asInt()).isZero();
      assertThat(page.run("document.title").asText()).isEqualTo("Holdfast");
    } finally {
      hostile.delete();
    }
  }

  private static FrameStream countdown(McpClient client, int from, int intervalMs) {
    return client.stream(
        """
        {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"countdown",\
        "arguments":{"from":%d,"intervalMs":%d},"_meta":{"progressToken":"t%d"}}}\
        """
            .formatted(from, from, intervalMs, from));
  }

  private static String text(BrowserPage page, String selector) {
    return page.run("document.querySelector(\"%s\").innerText".formatted(selector)).asText();
  }

  private static void click(BrowserPage page, String selector) {
    page.run("document.querySelector(\"%s\").click()".formatted(selector));
  }

  /** The numbers in the ids of the events that the demo shows. */
  private static List<Integer> numbers(BrowserPage page) {
    return page.run("[...document.querySelectorAll('#demo .code')].map(id => id.textContent)")
        .valueStream()
        .map(JsonNode::asText)
        .map(id -> Integer.valueOf(id.substring(id.lastIndexOf('-') + 1)))
        .toList();
  }

  /** The serious findings of axe in a page. */
  static List<String> seriousViolations(BrowserPage page) {
    page.run(NodeFixture.text("node_modules/axe-core/axe.min.js"));
    return page.run("axe.run().then(found => found.violations)")
        .valueStream()
        .filter(each -> List.of("serious", "critical").contains(each.path("impact").asText()))
        .map(JsonNode::toString)
        .toList();
  }

  private static void takePictures(BrowserPage page) {
    PICTURES.ifPresent(directory -> {
      for (String scheme : List.of("light", "dark")) {
        page.show(1000, 1000, scheme);
        page.save(directory.resolve("console-" + scheme + ".png"));
      }
      page.show(375, 1400, "light");
      page.save(Path.of("target", "console-narrow.png"));
    });
  }

  @Test
  void shouldRefusePagesOfOthers() throws IOException {
    RawAnswer page = get("/", Map.of());
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.header("Content-Security-Policy"))
        .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
        .contains("connect-src 'self' http://127.0.0.1:" + gateway.url().getPort())
        .doesNotContain("unsafe");
    assertThat(page.header("X-Content-Type-Options")).isEqualTo("nosniff");
    assertThat(page.header("Cross-Origin-Resource-Policy")).isEqualTo("same-origin");
    assertThat(page.header("Access-Control-Allow-Origin")).isEmpty();
    assertThat(page.body()).doesNotContain("<style", "style=", "onclick", "<script>");

    for (String path : List.of("/", "/console/status", "/console/console.js")) {
      // An address of this network, where health and metrics answer.
      assertThat(get(path, Map.of("Host", "10.0.0.7:9000")).status()).as(path).isEqualTo(403);
      assertThat(get(path, Map.of("Host", "evil.example")).status()).as(path).isEqualTo(403);
      assertThat(get(path, Map.of("Origin", "http://localhost:3000")).status())
          .as(path)
          .isEqualTo(403);
      assertThat(get(path, Map.of("Sec-Fetch-Site", "same-site")).status()).as(path).isEqualTo(403);
    }
    McpClient client = McpClient.at(gateway.url()).ready();
    assertThat(get("/console/sessions", Map.of()).body())
        .contains("\"handle\"")
        .doesNotContain(client.session());
    assertThat(get("/console/sessions/" + client.session(), Map.of()).status()).isEqualTo(404);
    // The path for clients has no console.
    assertThat(RawAnswer.to(gateway.url("/"), "GET", Map.of()).status()).isEqualTo(404);
    assertThat(
            RawAnswer.to(
                    console("/console/sessions/x"),
                    "OPTIONS",
                    Map.of(
                        "Origin", "http://localhost:3000",
                        "Access-Control-Request-Method", "DELETE"))
                .header("Access-Control-Allow-Methods"))
        .isEmpty();
  }

  private static RawAnswer get(String path, Map<String, String> headers) throws IOException {
    return RawAnswer.to(console(path), "GET", headers);
  }

  @Test
  void shouldCancelCallsInBothStores() throws IOException {
    try (Gateway memory = Gateway.start(Map.of())) {
      for (Gateway each : List.of(gateway, memory)) {
        McpClient client = McpClient.at(each.url(), McpClient.NEWEST, "to-be-cancelled").ready();
        try (FrameStream running = countdown(client, 600, 1000)) {
          running.event();
          URI calls = each.url("/q/health").resolve("/console/calls?q=to-be-cancelled");
          // Another operator may have made the gateway read the list a moment ago.
          await().until(() -> body(calls).contains("\"state\":\"running\""));
          String key = body(calls).replaceAll("(?s).*\"key\":\"([0-9a-f]{32})\".*", "$1");
          URI call = calls.resolve("/console/calls/" + key);
          URI result = calls.resolve("/console/calls/" + key + "/result");
          assertThat(RawAnswer.to(result, "POST", Map.of()).status()).isEqualTo(409);

          assertThat(RawAnswer.to(call, "DELETE", Map.of()).status()).isEqualTo(200);

          await().until(() -> body(call).contains("\"state\":\"cancelled\""));
          assertThat(RawAnswer.to(call, "DELETE", Map.of()).status()).isEqualTo(409);
          assertThat(RawAnswer.to(result, "POST", Map.of()).body()).contains("cancelled");
          assertThat(body(calls.resolve("/console/calls/" + key + "/events")))
              .contains("notifications/progress", "\"closed\":true");
          assertThat(
                  RawAnswer.to(
                          calls.resolve("/console/calls/" + key + "/events?after=x"),
                          "GET",
                          Map.of())
                      .status())
              .isEqualTo(400);
        } finally {
          client.delete();
        }
      }
    }
  }

  private static String body(URI url) throws IOException {
    return RawAnswer.to(url, "GET", Map.of()).body();
  }

  @Test
  void shouldNotServeOtherMachines() throws IOException {
    try (Gateway open = Gateway.start(Map.of("quarkus.management.host", "0.0.0.0"))) {
      URI page = open.url("/q/health").resolve("/");

      assertThat(RawAnswer.to(page, "GET", Map.of()).status()).isEqualTo(404);
      assertThat(RawAnswer.to(page.resolve("/console/status"), "GET", Map.of()).status())
          .isEqualTo(404);
      assertThat(RawAnswer.to(page.resolve("/q/health/live"), "GET", Map.of()).status())
          .isEqualTo(200);
    }
  }
}
