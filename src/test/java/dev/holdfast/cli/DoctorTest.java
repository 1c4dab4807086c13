package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.ServerFeatures;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is said, and with what the program ends, where there is no Redis. */
class DoctorTest {

  private final LocalUpstream upstream =
      new LocalUpstream(ServerFeatures.of(List.of()), "test", "1");
  private final ByteArrayOutputStream results = new ByteArrayOutputStream();

  @AfterEach
  void close() {
    upstream.close();
  }

  private ExitCode examine(int connections, boolean json) {
    PrintStream printed = new PrintStream(results, true, UTF_8);
    return new Doctor(new SingleProcessContext(upstream, connections), InstantSource.system())
        .run(new Output(printed, printed), json);
  }

  private String said() {
    return results.toString(UTF_8);
  }

  @Test
  void shouldFindEnoughOpenFiles() {
    assertThat(examine(1, false)).isEqualTo(ExitCode.FINE);

    assertThat(said()).contains("fine     open files: ", "of which 2 may be wanted");
  }

  /** Each client takes one, and its server another. */
  @Test
  void shouldFindTooFewOpenFiles() {
    assertThat(examine(Integer.MAX_VALUE, false)).isEqualTo(ExitCode.FINE);

    assertThat(said())
        .contains("doubtful open files: ", "of which 4294967294 may be wanted")
        .contains("→ raise ulimit -n, or lower holdfast.limits.connections");
  }

  @Test
  void shouldSayItInJson() {
    assertThat(examine(1, true)).isEqualTo(ExitCode.FINE);

    assertThat(said().lines())
        .hasSize(3)
        .allMatch(line -> line.startsWith("{\"check\":\"") && line.contains("\"verdict\":\""));
    assertThat(said())
        .contains("{\"check\":\"store\",\"verdict\":\"doubtful\"")
        .contains("{\"check\":\"upstream default\",\"verdict\":\"fine\"");
  }

  @Test
  void shouldFindAnUpstreamThatOpensNoSession() {
    upstream.close();

    assertThat(examine(1, false)).isEqualTo(ExitCode.PROBLEM);

    assertThat(said()).contains("wrong    upstream default: ", "holdfast.upstream leads");
  }
}
