package dev.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.auth.AccessKey;
import dev.holdfast.faults.server.CountingServer;
import dev.holdfast.testing.BrowserPage;
import dev.holdfast.testing.Chromium;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.OpenIdProvider;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An operator in a browser, with an account at a certified provider and three replicas behind a
 * balancer.
 */
@Timeout(300)
class ConsoleFleetIT {

  private static final AccessKey CLIENT = AccessKey.random();
  private static final AccessKey VIEWER = AccessKey.random();
  private static final int CALLS = 500;

  private static final Optional<Path> PICTURES =
      Optional.ofNullable(System.getProperty("holdfast.pictures")).map(Path::of);

  private static RedisFixture redis;
  private static OpenIdProvider provider;
  private static CountingServer server;
  private static Gateway demo;
  private static RoundRobin balancer;
  private static List<Gateway> gateways;
  private static URI console;

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    provider = OpenIdProvider.start();
    server = CountingServer.start(true);
    demo = Gateway.start(Map.of());
    balancer = RoundRobin.withoutTargets();
    console = balancer.url("/console/");
    Map<String, String> settings = settings();
    gateways = new ArrayList<>(Gateway.startAll(List.of(settings, settings, settings)));
    retarget();
  }

  private static void retarget() {
    balancer.retarget(gateways.stream().map(each -> each.url("/q/health")).toList());
  }

  private static Map<String, String> settings() {
    Map<String, String> settings = redis.gatewaySettings();
    settings.put("holdfast.upstream.url", server.url().toString());
    settings.put("holdfast.upstream.redact", "/content/*/text");
    settings.put("holdfast.upstreams.demo.url", demo.url().toString());
    settings.put("holdfast.audit", "true");
    settings.put("holdfast.cluster.heartbeat", "500ms");
    settings.put("holdfast.cluster.dead-after", "3s");
    settings.put("holdfast.auth.keys.agent.hash", CLIENT.hash());
    settings.put("holdfast.auth.keys.viewer.hash", VIEWER.hash());
    settings.put("holdfast.auth.keys.viewer.scopes", "holdfast:view");
    settings.put("holdfast.operators.messages", "true");
    settings.putAll(provider.operatorSettings(console));
    return settings;
  }

  @AfterAll
  static void stop() {
    gateways.forEach(Gateway::close);
    balancer.close();
    server.close();
    demo.close();
    provider.close();
    redis.close();
  }

  private static String call(int id, int steps, int intervalMs) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"count",\
    "arguments":{"n":%d,"intervalMs":%d},"_meta":{"progressToken":"p%d"}}}\
    """
        .formatted(id, steps, intervalMs, id);
  }

  /** Begins a call of a minute, and leaves. Returns the id of the session. */
  private static String callAndLeave(Gateway gateway) {
    McpClient client = McpClient.at(gateway.url(), CLIENT);
    try (FrameStream call = client.stream(call(1, 600, 100))) {
      String _ = call.event("progress");
    }
    return client.session();
  }

  @Test
  void shouldFindFollowAndCollectACallWhoseClientAndReplicaAreGone() throws IOException {
    Gateway first = gateways.getFirst();
    McpClient agent = McpClient.at(first.url(), CLIENT);
    try (Chromium browser = Chromium.open(console, "--hide-scrollbars");
        BrowserPage page = browser.page()) {
      for (int id = 1; id < CALLS; id++) {
        assertThat(agent.post(call(id, 1, 1)).statusCode()).isEqualTo(200);
      }
      String lost = callAndLeave(first);

      page.show(1000, 800, "light");
      click(page, "#with-openid a");
      page.waitFor("document.querySelector('#name')?.textContent === 'alice'");
      click(page, "#room-calls");
      page.waitFor("document.querySelector('#calls-found')?.textContent.includes('500')");
      choose(page, "#call-state", "client gone");
      page.waitFor("document.querySelectorAll('#calls tbody tr').length === 1");
      assertThat(page.run("document.documentElement.outerHTML").asText())
          .doesNotContain(lost, agent.session(), CLIENT.value());
      picture(page, "console-calls");

      click(page, "#calls tbody a");
      page.waitFor("document.querySelectorAll('#events li').length > 3");
      int before = events(page);
      page.waitFor("document.querySelectorAll('#events li').length > " + before);

      first.kill();
      gateways.remove(first);
      retarget();
      page.waitFor("document.querySelector('#steps').innerText.includes('taken over')");
      int after = events(page);
      page.waitFor("document.querySelectorAll('#events li').length > " + after);
      picture(page, "console-call");
      assertThat(ConsoleIT.seriousViolations(page)).isEmpty();

      // The call takes a minute.
      await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> text(page, "#facts").contains("not fetched"));
      click(page, "#collect-call");
      click(page, "#confirm-yes");
      page.waitFor("document.querySelector('#call-result').textContent.includes('content')");
      assertThat(text(page, "#call-result")).contains("[redacted]");

      click(page, "#read-call");
      click(page, "#confirm-yes");
      page.waitFor("document.querySelectorAll('#events .message').length > 3");
      assertThat(gateways.stream().map(Gateway::output))
          .anyMatch(output -> output.contains("\"act\":\"read messages\""))
          .anyMatch(output -> output.contains("\"act\":\"collected a result\""));

      tryATool(page);

      visitTheOtherRooms(page);
      click(page, "#sign-out");
      page.waitFor("!document.querySelector('#sign-in').hidden");
      assertThat(page.run("fetch('console/status').then(answer => answer.status)").asInt())
          .isEqualTo(401);
    }
  }

  @Test
  void shouldShowNeitherButtonsNorMessagesToSomebodyWhoMayOnlyLook() {
    String _ = callAndLeave(gateways.getLast());
    try (Chromium browser = Chromium.open(console, "--hide-scrollbars");
        BrowserPage page = browser.page()) {
      page.waitFor("document.querySelector('#with-key')?.hidden === false");
      page.run("document.querySelector('#key').value = 'hf_wrong'");
      page.run("document.querySelector('#with-key').requestSubmit()");
      page.waitFor("document.querySelector('#refused').hidden === false");
      assertThat(ConsoleIT.seriousViolations(page)).isEmpty();
      page.run("document.querySelector('#key').value = '%s'".formatted(VIEWER.value()));
      page.run("document.querySelector('#with-key').requestSubmit()");
      page.waitFor("document.querySelector('#name')?.textContent === 'viewer'");

      page.waitFor("document.querySelectorAll('#sessions tr').length > 0");
      assertThat(buttons(page, "#sessions .danger")).isZero();
      click(page, "#room-servers");
      page.waitFor("document.querySelectorAll('#servers tbody tr').length === 2");
      assertThat(buttons(page, "#try")).isZero();
      click(page, "#room-calls");
      choose(page, "#call-state", "client gone");
      click(page, "#calls tbody a");
      page.waitFor("document.querySelectorAll('#events li').length > 3");
      assertThat(buttons(page, "section button:not([hidden])")).isZero();
      String call = page.run("location.hash.replace('#call/', 'console/calls/')").asText();
      assertThat(
              page.run(
                      """
                      Promise.all([
                        fetch('%1$s/messages'), fetch('%1$s', { method: 'DELETE' }),
                        fetch('%1$s/result', { method: 'POST', body: '{}',
                          headers: { 'Content-Type': 'application/json' } })])
                        .then(answers => answers.map(answer => answer.status).join())\
                      """
                          .formatted(call))
                  .asText())
          .isEqualTo("403,403,403");
    }
  }

  private static int buttons(BrowserPage page, String selector) {
    return page.run(
            "document.querySelectorAll(\"#room %1$s, #overview:not([hidden]) %1$s\").length"
                .formatted(selector))
        .asInt();
  }

  private static void tryATool(BrowserPage page) {
    click(page, "#room-servers");
    page.waitFor("document.querySelectorAll('#try-server option').length === 2");
    choose(page, "#try-server", "demo");
    click(page, "#try-open");
    page.waitFor("document.querySelectorAll('#try-tool option').length > 0");
    choose(page, "#try-tool", "countdown");
    page.waitFor("document.querySelector('#argument-from') !== null");
    page.run("document.querySelector('#argument-from').value = '40'");
    page.run("document.querySelector('#argument-intervalMs').value = '100'");
    click(page, "#try-call");
    page.waitFor("document.querySelectorAll('#try-events li').length > 3");
    click(page, "#try-cut");
    page.waitFor("document.querySelector('#try-output').textContent.includes('cut')");
    int cut = page.run("document.querySelectorAll('#try-events li').length").asInt();
    click(page, "#try-resume");
    page.waitFor("document.querySelectorAll('#try-events li').length > " + cut);
    page.waitFor("document.querySelector('#try-output').textContent.includes('has ended')");
    // Nothing twice, nothing lost: the ids of 40 steps and of the result.
    assertThat(
            page.run(
                    "[...document.querySelectorAll('#try-events .code')]"
                        + ".map(id => Number(id.textContent.split('-').at(-1)))")
                .valueStream()
                .map(JsonNode::asInt)
                .toList())
        .isSorted()
        .doesNotHaveDuplicates()
        .hasSize(41);
    assertThat(ConsoleIT.seriousViolations(page)).isEmpty();
    picture(page, "console-servers");
  }

  private static void visitTheOtherRooms(BrowserPage page) {
    for (String room : List.of("clients", "history", "start", "overview", "calls")) {
      click(page, "#room-" + room);
      page.waitFor("document.querySelector('#room-" + room + "').hasAttribute('aria-current')");
      page.waitFor("document.querySelectorAll('main td, main svg, main pre').length > 0");
      page.show(400, 800, "dark");
      assertThat(ConsoleIT.seriousViolations(page)).as(room).isEmpty();
      assertThat(page.run("document.documentElement.scrollWidth").asInt())
          .as(room)
          .isLessThanOrEqualTo(400);
      page.show(1000, 800, "light");
      if (room.equals("history")) {
        picture(page, "console-history");
      }
    }
  }

  private static int events(BrowserPage page) {
    return page.run("document.querySelectorAll('#events li').length").asInt();
  }

  private static void picture(BrowserPage page, String name) {
    PICTURES.ifPresent(directory -> page.save(directory.resolve(name + ".png")));
  }

  private static String text(BrowserPage page, String selector) {
    return page.run("document.querySelector(\"%s\").innerText".formatted(selector)).asText();
  }

  private static void click(BrowserPage page, String selector) {
    page.waitFor("Boolean(document.querySelector(\"%s\"))".formatted(selector));
    page.run("document.querySelector(\"%s\").click()".formatted(selector));
  }

  private static void choose(BrowserPage page, String selector, String value) {
    page.waitFor(
        "[...document.querySelector(\"%s\").options].some(each => each.value === '%s')"
            .formatted(selector, value));
    page.run(
        "(() => { const select = document.querySelector(\"%s\"); select.value = '%s';"
                .formatted(selector, value)
            + " select.dispatchEvent(new Event('change')); })()");
  }
}
