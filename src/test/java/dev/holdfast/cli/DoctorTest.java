package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.demo.Demo;
import dev.holdfast.protocol.Message;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.LogLevelStore;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Checks output and exit code of the doctor without Redis. */
class DoctorTest {

  private final LocalUpstream upstream =
      new LocalUpstream(
          new LocalUpstream.ServerFeatures(List.of(), List.of(), List.of()),
          new LogLevelStore.InMemory(),
          "test",
          "1");
  private final ByteArrayOutputStream stdout = new ByteArrayOutputStream();

  @AfterEach
  void close() {
    upstream.close();
  }

  private ExitCode run(int maxConnections, boolean json) {
    PrintStream printed = new PrintStream(stdout, true, UTF_8);
    CommandContext context =
        new CommandContext(
            Optional.empty(), Map.of(Session.DEFAULT_UPSTREAM, upstream), maxConnections, 1000);
    return new DoctorCommand(context, InstantSource.system(), new Output(printed, printed, json))
        .run();
  }

  private String printed() {
    return stdout.toString(UTF_8);
  }

  @Test
  void shouldAcceptEnoughOpenFiles() {
    assertThat(run(1, false)).isEqualTo(ExitCode.SUCCESS);

    assertThat(printed()).contains("fine     open files: ", "and 2 may be needed");
  }

  /** A client needs one open file, and its upstream another. */
  @Test
  void shouldReportTooFewOpenFiles() {
    assertThat(run(Integer.MAX_VALUE, false)).isEqualTo(ExitCode.SUCCESS);

    assertThat(printed())
        .contains("doubtful open files: ", "and 4294967294 may be needed")
        .contains("→ raise ulimit -n, or lower holdfast.limits.connections");
  }

  @Test
  void shouldPrintJson() {
    assertThat(run(1, true)).isEqualTo(ExitCode.SUCCESS);

    assertThat(printed().lines())
        .hasSize(3)
        .allMatch(line -> line.startsWith("{\"check\":\"") && line.contains("\"verdict\":\""));
    assertThat(printed())
        .contains("{\"check\":\"store\",\"verdict\":\"doubtful\"")
        .contains("{\"check\":\"upstream default\",\"verdict\":\"fine\"")
        .contains("opens sessions with MCP 2025-11-25: test 1, 0 tools");
  }

  @Test
  void shouldReportAnUpstreamThatOpensNoSession() {
    upstream.close();

    assertThat(run(1, false)).isEqualTo(ExitCode.PROBLEM);

    assertThat(printed()).contains("wrong    upstream default: ", "check holdfast.upstream ");
  }

  @Test
  void shouldSayWhatAServerOffers() {
    try (LocalUpstream demo =
        new LocalUpstream(
            new LocalUpstream.ServerFeatures(Demo.TOOLS, List.of(), List.of()),
            new LogLevelStore.InMemory(),
            "demo",
            "2")) {
      CheckResult result = new UpstreamCheck("files", demo).run();

      assertThat(result.verdict()).isEqualTo(CheckResult.Verdict.FINE);
      assertThat(result.found())
          .isEqualTo("opens sessions with MCP 2025-11-25: demo 2, " + Demo.TOOLS.size() + " tools");
    }
  }

  @Test
  void shouldNameTheVersionsOfAServerThatIsTooNew() {
    String error =
        """
        {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version",\
        "data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}\
        """;

    CheckResult result = new UpstreamCheck("files", refusing(error)).run();

    assertThat(result.found())
        .isEqualTo(
            "the server refuses initialize: it speaks only [\"2026-07-28\"], which is not supported"
                + " yet");
    assertThat(result.fix()).startsWith("check holdfast.upstreams.files ");
  }

  private static Upstream refusing(String error) {
    return new Upstream() {
      @Override
      public Handshake initialize(Message.Request initialize) {
        return new Handshake(error.getBytes(UTF_8), null, List.of());
      }

      @Override
      public UpstreamSession attach(UpstreamLink link) {
        throw new IllegalStateException("no session was opened");
      }

      @Override
      public void close() {}
    };
  }
}
