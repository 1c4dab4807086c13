package dev.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.testing.BrowserPage;
import dev.holdfast.testing.Chromium;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisMonitor;
import dev.holdfast.testing.RoundRobin;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Commands of Redis that open pages of the console cost, on three replicas. Commands within scripts
 * count, too. {@code -Dholdfast.faults=long} has 2,000 sessions in place of 200, and more time.
 */
@Timeout(400)
@Tag("alone")
class ConsoleCostIT {

  private static final Logger LOG = Logger.getLogger(ConsoleCostIT.class);
  private static final AccessKey KEY = AccessKey.random();
  private static final String INITIALIZED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
  private static final int SESSIONS = LongRun.REQUESTED ? 2000 : 200;
  private static final int MOST_PER_SECOND = 20;
  private static final Duration TIME = Duration.ofSeconds(LongRun.REQUESTED ? 20 : 10);
  private static final Duration SETTLING = Duration.ofSeconds(LongRun.REQUESTED ? 30 : 15);
  private static final Duration SETTLED = Duration.ofSeconds(LongRun.REQUESTED ? 80 : 20);

  /** Ten pages: some in each room, and two that follow a call. */
  private static final List<String> ROOMS =
      List.of("overview", "overview", "calls", "calls", "calls", "servers", "clients", "history");

  @Test
  void shouldCostFewCommandsWithTenPagesAndNoneWithout() throws InterruptedException {
    try (RedisFixture redis = RedisFixture.start();
        RoundRobin balancer = RoundRobin.withoutTargets()) {
      URI console = balancer.url("/console/");
      Map<String, String> settings = settings(redis, console);
      List<Gateway> gateways = Gateway.startAll(List.of(settings, settings, settings));
      balancer.retarget(gateways.stream().map(each -> each.url("/q/health")).toList());
      AtomicLong commands = new AtomicLong();
      URI url = gateways.getFirst().url();
      try (RedisMonitor _ = RedisMonitor.start(redis, _ -> commands.incrementAndGet())) {
        for (int i = 0; i < SESSIONS; i++) {
          // A session that is never used expires soon.
          assertThat(McpClient.at(url, KEY).post(INITIALIZED).statusCode()).isEqualTo(202);
        }
        FrameStream call = McpClient.at(url, KEY).stream(countdown());
        assertThat(call.status()).isEqualTo(200);
        Thread.sleep(SETTLED); // What replicas do for their sessions has its usual pace.
        double idle = perSecond(commands, gateways, "nobody looks");

        try (Chromium browser =
                Chromium.open(
                    console,
                    "--disable-popup-blocking",
                    "--disable-renderer-backgrounding",
                    "--disable-background-timer-throttling",
                    "--disable-backgrounding-occluded-windows");
            BrowserPage page = browser.page()) {
          signIn(page);
          openPages(page, console);
          await()
              .atMost(Duration.ofMinutes(1))
              .until(() -> balancer.requests(0) > 50 && balancer.requests(2) > 50);
          Thread.sleep(SETTLING); // Caches are filled, replicas report, and pages ask less often.
          int before = balancer.requests(0) + balancer.requests(1) + balancer.requests(2);
          double looked = perSecond(commands, gateways, "ten pages");
          int requests =
              balancer.requests(0) + balancer.requests(1) + balancer.requests(2) - before;

          // The pages do ask, and less often since little changes: at full pace 85 times in 10 s.
          LOG.infof("%d requests of ten pages", requests);
          assertThat(requests).isBetween((int) TIME.toSeconds(), (int) TIME.toSeconds() * 9 / 2);
          assertThat(looked - idle).isLessThanOrEqualTo(MOST_PER_SECOND);
        }
        Thread.sleep(Duration.ofSeconds(25)); // Replicas report for some seconds more.
        double after = perSecond(commands, gateways, "nobody looks any more");
        assertThat(after - idle).isLessThan(2);
      } finally {
        gateways.forEach(Gateway::close);
      }
    }
  }

  private static Map<String, String> settings(RedisFixture redis, URI console) {
    Map<String, String> settings = redis.gatewaySettings();
    settings.put("holdfast.demo-tools", "always");
    settings.put("holdfast.limits.sessions-per-address", "10000");
    settings.put("holdfast.auth.keys.operator.hash", KEY.hash());
    settings.put("holdfast.auth.keys.operator.scopes", "holdfast:view,holdfast:operate");
    settings.put("holdfast.operators.console-url", console.toString());
    return settings;
  }

  /** A call without a progress token, so that no event falls into one of the measured times. */
  private static String countdown() {
    return """
    {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"countdown",\
    "arguments":{"from":3600,"intervalMs":60000}}}\
    """;
  }

  private static void signIn(BrowserPage page) {
    page.waitFor(
        "document.querySelector('#key') !== null && !document.querySelector('#sign-in').hidden");
    page.run(
        """
        fetch('console/sign-in', { method: 'POST', headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ key: '%s' }) }).then(() => location.reload())\
        """
            .formatted(KEY.value()));
    page.waitFor("document.querySelector('#name')?.textContent === 'operator'");
    page.run("location.hash = 'calls'");
    page.waitFor("document.querySelectorAll('#calls tbody a').length === 1");
  }

  private static void openPages(BrowserPage page, URI console) {
    String call = page.run("document.querySelector('#calls tbody a').hash").asText();
    // Windows of their own: a page behind another one asks for nothing.
    for (String room : ROOMS) {
      open(page, console + "#" + room);
    }
    open(page, console + call);
    page.run("location.hash = '%s'".formatted(call.substring(1)));
  }

  private static void open(BrowserPage page, String url) {
    page.run("void window.open('%s', '_blank', 'popup,width=500,height=500')".formatted(url));
  }

  private static double perSecond(AtomicLong commands, List<Gateway> gateways, String when)
      throws InterruptedException {
    long before = commands.get();
    Duration cpu = cpu(gateways);
    long start = System.nanoTime();
    Thread.sleep(TIME);
    double seconds = (System.nanoTime() - start) / 1e9;
    double rate = (commands.get() - before) / seconds;
    double core = cpu(gateways).minus(cpu).toMillis() / seconds / 10;
    LOG.infof("%s: %.1f commands/s, %.1f %% of a core for three replicas", when, rate, core);
    return rate;
  }

  private static Duration cpu(List<Gateway> gateways) {
    return gateways.stream()
        .map(each ->
            ProcessHandle.of(each.pid())
                .flatMap(process -> process.info().totalCpuDuration())
                .orElse(Duration.ZERO))
        .reduce(Duration.ZERO, Duration::plus);
  }
}
