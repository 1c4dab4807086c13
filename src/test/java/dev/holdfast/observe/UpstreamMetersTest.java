package dev.holdfast.observe;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.ObservedUpstream;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.stdio.CommandLine;
import dev.holdfast.upstream.stdio.StdioUpstream;
import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import io.micrometer.prometheus.PrometheusConfig;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The metrics of an upstream with real processes, as Prometheus reads them. */
@SuppressWarnings("deprecation") // Quarkus uses this registry.
@Timeout(60)
class UpstreamMetersTest {

  private static final Body CALL = body("\"id\":1,\"method\":\"tools/call\",\"params\":{}");

  @TempDir Path directory;

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final AtomicLong clock = new AtomicLong();

  private static Body body(String members) {
    return Envelopes.read(("{\"jsonrpc\":\"2.0\"," + members + "}").getBytes(UTF_8));
  }

  private static Message.Request initialize() {
    Body body =
        body("\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}");
    return (Message.Request) ((Body.Single) body).message();
  }

  private Upstream upstream(String command) {
    Duration timeout = Duration.ofSeconds(10);
    StdioUpstreamSettings settings =
        new StdioUpstreamSettings(
            CommandLine.parse(command),
            Map.of(),
            directory,
            Duration.ofSeconds(1),
            new Channel.Settings("files", 2, 2, timeout, timeout, 1 << 20, true));
    UpstreamMonitor monitor = new UpstreamMonitor();
    StdioUpstream server = new StdioUpstream(settings, new ByteBudget(1 << 26));
    UpstreamMeters meters =
        new UpstreamMeters("files", registry, monitor, server::processes, clock::get);
    meters.show();
    return ObservedUpstream.of(server, List.of(monitor.watch("files", Optional::empty), meters));
  }

  /** A server that answers a call when it is told to, and ends when it is told to. */
  private String server() throws IOException {
    Path script =
        Files.writeString(
            directory.resolve("server.sh"),
            """
            while IFS= read -r line; do
              case $line in
                *'"initialize"'*) echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}' ;;
                *tools/list*) echo '{"jsonrpc":"2.0","id":1,"result":{}}' ;;
                *answer*) echo '{"jsonrpc":"2.0","id":1,"result":{}}' ;;
                *exit*) exit ;;
              esac
            done
            """);
    return "/bin/sh " + script;
  }

  private double value(String name) {
    String sample = "holdfast_" + name + "{upstream=\"files\",} ";
    return registry
        .scrape()
        .lines()
        .filter(line -> line.startsWith(sample))
        .mapToDouble(line -> Double.parseDouble(line.substring(sample.length())))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void shouldMeasureCallsAndProcesses() throws IOException {
    try (Upstream upstream = upstream(server())) {
      assertThat(value("stdio_processes")).isZero();
      assertThat(value("stdio_processes_limit")).isEqualTo(2);
      UpstreamLink link = Objects.requireNonNull(upstream.initialize(initialize()).link());
      UpstreamSession session = upstream.attach(link);
      assertThat(value("stdio_processes")).isOne();

      session.request(body("\"id\":1,\"method\":\"tools/list\"")).source().close();
      assertThat(value("call_duration_seconds_count")).isZero();

      MessageSource call = session.request(CALL).source();
      assertThat(value("calls_in_flight")).isOne();
      clock.addAndGet(Duration.ofSeconds(20).toNanos());
      session.send(body("\"method\":\"answer\""));
      assertThat(call.take()).hasSize(1);
      call.close();
      call.close();
      assertThat(value("calls_in_flight")).isZero();
      assertThat(value("call_duration_seconds_count")).isOne();
      assertThat(value("call_duration_seconds_sum")).isEqualTo(20);
      assertThat(registry.scrape())
          .contains(
              "holdfast_call_duration_seconds_bucket{upstream=\"files\",le=\"5.0\",} 0.0",
              "holdfast_call_duration_seconds_bucket{upstream=\"files\",le=\"30.0\",} 1.0",
              "holdfast_call_duration_seconds_bucket{upstream=\"files\",le=\"3600.0\",} 1.0");

      assertThat(value("respawns_total")).isZero();
      session.send(body("\"method\":\"exit\""));
      await().until(() -> value("stdio_processes") == 0);
      assertThatThrownBy(() -> upstream.attach(link).request(CALL))
          .isInstanceOf(UpstreamException.class);
      assertThat(value("calls_in_flight")).isZero();
      upstream.reopen(link, initialize(), true);
      assertThat(value("respawns_total")).isOne();
      assertThat(value("stdio_processes")).isOne();
    }
  }

  @Test
  void shouldTellThatTheUpstreamIsDown() {
    try (Upstream upstream = upstream("/no/such/program")) {
      assertThat(value("upstream_up")).isOne();
      assertThatThrownBy(() -> upstream.initialize(initialize()))
          .isInstanceOf(UpstreamException.Unreachable.class);
      assertThat(value("upstream_up")).isZero();
    }
  }
}
