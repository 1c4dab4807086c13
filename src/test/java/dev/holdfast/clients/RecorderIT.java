package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.ProcessResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A tape of a session of the TypeScript SDK with the MCP project's own server. */
@Timeout(120)
class RecorderIT {

  private static final int STEPS = 8;
  private static final String ARGUMENTS = "{\"duration\":2,\"steps\":" + STEPS + "}";
  private static final String TOOL = "trigger-long-running-operation";

  @TempDir private Path directory;

  @Test
  void shouldReplayToTheClientAndVerifyAgainstTheServer() throws IOException {
    Path tape = record();

    try (Gateway replay = Gateway.replay(tape, "--speed", "2");
        FaultProxy network = FaultProxy.inFrontOf(replay.url())) {
      StreamCuts cuts = StreamCuts.ofCall(2, 1);
      network.plan(cuts);
      isComplete(call(network.url()));
      assertThat(cuts.done()).isEqualTo(2);
      TypeScriptClient other = TypeScriptClient.call(replay.url(), TOOL, "{\"steps\":1}");
      assertThat(other.errors().toString())
          .contains("The tape has no tools/call of " + TOOL + " with these params");
    }

    String server = NodeFixture.commandLine(NodeFixture.EVERYTHING, "stdio");
    ProcessResult same = PackagedProgram.run("verify", tape.toString(), "--upstream", server);
    assertThat(same.exitCode()).as(same.toString()).isZero();
    assertThat(same.stdout()).contains("2 requests sent").contains("0 differences");

    String changed = "sh -c '" + server.replace("'", "") + " | sed -u s/Long.running/Short/'";
    ProcessResult other = PackagedProgram.run("verify", tape.toString(), "--upstream", changed);
    assertThat(other.exitCode()).as(other.toString()).isEqualTo(1);
    assertThat(other.stdout().lines())
        .first()
        .isEqualTo("request 2, tools/call " + TOOL + ", response /result/content/0/text");
    assertThat(other.stdout())
        .contains("  live      \"Short operation completed.")
        .contains(" 1 differences");

    ProcessResult shown = PackagedProgram.run("show", tape.toString());
    assertThat(shown.stdout().lines().filter(line -> line.contains("← notifications/progress")))
        .hasSize(STEPS);
  }

  private Path record() throws IOException {
    try (NodeFixture server = NodeFixture.everything("streamableHttp");
        Gateway gateway =
            Gateway.start(
                Map.of(
                    "holdfast.upstream.url", server.url().toString(),
                    "holdfast.record.dir", directory.toString()))) {
      isComplete(call(gateway.url()));
      gateway.terminate();
      gateway.awaitEnd(10);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    try (Stream<Path> files = Files.list(directory)) {
      List<Path> tapes = files.toList();
      assertThat(tapes).hasSize(1);
      return tapes.getFirst();
    }
  }

  private static TypeScriptClient call(java.net.URI url) {
    return TypeScriptClient.call(url, TOOL, ARGUMENTS);
  }

  private static void isComplete(TypeScriptClient client) {
    assertThat(client.progress())
        .as(client.toString())
        .containsExactlyElementsOf(IntStream.rangeClosed(1, STEPS).boxed().toList());
    assertThat(client.text()).startsWith("Long running operation completed.");
  }
}
