package dev.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.BrowserPage;
import dev.holdfast.testing.Chromium;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.StatelessClient;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The console with 2,500 sessions and 500 calls of 250 clients. {@code -Dholdfast.faults=long}
 * makes 10,000 sessions and 1,000 calls.
 */
@Timeout(400)
class ConsolePlentyIT {

  private static final int SESSIONS = LongRun.REQUESTED ? 10_000 : 2500;
  private static final int CALLERS = LongRun.REQUESTED ? 500 : 250;
  private static final int CALLS = 2 * CALLERS;
  private static final int PAGE = 25;
  private static final int MOST_BYTES = 128 << 10;

  private static final String INITIALIZED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

  @Test
  void shouldStayFluent() throws Exception {
    try (RedisFixture redis = RedisFixture.start();
        Gateway gateway = Gateway.start(settings(redis))) {
      fill(gateway);
      URI console = gateway.url("/q/health").resolve("/");
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> get(console, "calls").path("found").asInt() == CALLS);

      for (String path :
          List.of(
              "status",
              "sessions",
              "sessions?skip=" + (SESSIONS - 10),
              "calls?most=100000",
              "calls?most=100000&sort=-bytes&skip=" + (CALLS - 50),
              "calls?q=countdown+client&state=finished",
              "servers",
              "clients",
              "history")) {
        assertThat(answer(console, path).body().length()).as(path).isLessThan(MOST_BYTES);
      }
      assertThat(get(console, "status").at("/counts/sessions").asInt()).isEqualTo(SESSIONS);
      assertThat(get(console, "sessions").path("sessions")).hasSize(PAGE);
      assertThat(get(console, "calls?most=100000").path("calls")).hasSize(100);
      assertThat(get(console, "clients").path("clients")).hasSizeLessThanOrEqualTo(100);
      List<Long> started = new ArrayList<>();
      get(console, "calls?most=100&sort=started&skip=300")
          .path("calls")
          .forEach(call -> started.add(call.path("started").asLong()));
      assertThat(started).hasSize(100).isSorted();

      look(console);
    }
  }

  private static void look(URI console) {
    try (Chromium browser = Chromium.open(console, "--hide-scrollbars");
        BrowserPage page = browser.page()) {
      page.waitFor("document.querySelectorAll('#sessions tr').length === " + PAGE);
      page.run("document.querySelector('#older').click()");
      page.waitFor("document.querySelector('#more-sessions').textContent.startsWith('26 to 50')");
      page.run("location.hash = 'calls'");
      page.waitFor("document.querySelectorAll('#calls tbody tr').length === " + PAGE);
      page.run("document.querySelector('[data-column=tool]').click()");
      page.waitFor("document.querySelector('[aria-sort=descending] [data-column=tool]') !== null");
      for (int i = 2; i <= 5; i++) {
        page.run("document.querySelector('#calls-next').click()");
        page.waitFor(
            "document.querySelector('#calls-found').textContent.startsWith('%d to')"
                .formatted((i - 1) * PAGE + 1));
      }
      assertThat(page.run("document.querySelectorAll('#calls tbody tr').length").asInt())
          .isEqualTo(PAGE);
      page.run("location.hash = 'clients'");
      page.waitFor("document.querySelectorAll('#clients tbody tr').length > 0");
      assertThat(page.run("document.querySelectorAll('main *').length").asInt()).isLessThan(5000);
      // Bytes of the largest answer, and number of them.
      JsonNode answers =
          page.run(
              "performance.getEntriesByType('resource')"
                  + ".filter(each => each.name.includes('/console/'))"
                  + ".map(each => each.decodedBodySize)");
      assertThat(answers).hasSizeGreaterThan(10);
      assertThat(answers).allSatisfy(each -> assertThat(each.asInt()).isLessThan(MOST_BYTES));
    }
  }

  private static Map<String, String> settings(RedisFixture redis) {
    Map<String, String> settings = redis.gatewaySettings();
    settings.put("holdfast.demo-tools", "always");
    settings.put("holdfast.limits.sessions", "20000");
    settings.put("holdfast.limits.sessions-per-address", "20000");
    return settings;
  }

  /** Opens the sessions; the first ones call a tool twice each. */
  private static void fill(Gateway gateway) throws Exception {
    try (ExecutorService clients = Executors.newFixedThreadPool(8)) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < SESSIONS; i++) {
        int number = i;
        all.add(clients.submit(() -> open(gateway, number)));
      }
      for (Future<?> each : all) {
        var _ = each.get();
      }
    }
  }

  private static void open(Gateway gateway, int number) {
    McpClient client =
        McpClient.at(
            gateway.url(),
            McpClient.NEWEST,
            "client " + number % CALLERS + "x".repeat(100),
            "agent/" + "y".repeat(500));
    assertThat(client.post(INITIALIZED).statusCode()).isEqualTo(202);
    for (int i = 0; i < CALLS / CALLERS && number < CALLERS; i++) {
      try (FrameStream call = client.call("countdown", "{\"from\":1,\"intervalMs\":10}")) {
        assertThat(call.rest()).isNotEmpty();
      }
    }
  }

  private static JsonNode get(URI console, String path) {
    return StatelessClient.json(answer(console, path).body());
  }

  private static RawAnswer answer(URI console, String path) {
    try {
      RawAnswer answer = RawAnswer.to(console.resolve("/console/" + path), "GET", Map.of());
      assertThat(answer.status()).as(path).isEqualTo(200);
      return answer;
    } catch (IOException unreachable) {
      throw new AssertionError(unreachable);
    }
  }
}
