package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.ProcessResult;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a program on the official TypeScript SDK saw of one tool call.
 *
 * @param exitCode 0 if a result came
 * @param progress the progress values, in the order in which they came
 * @param logs the log messages, likewise
 * @param text the text of the result; empty if none came
 * @param errors what the SDK reported on the way, and why no result came
 * @param renewals how often it got an access token
 */
record TypeScriptClient(
    int exitCode,
    List<Integer> progress,
    List<String> logs,
    String text,
    List<String> errors,
    int renewals) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration TIMEOUT = Duration.ofSeconds(40);

  /** Calls a tool; the program gives up a while before its process would be killed. */
  static TypeScriptClient call(URI url, String tool, String arguments, String... options) {
    List<String> all = new ArrayList<>(List.of("--url", url.toString(), "--timeout-ms", "20000"));
    all.addAll(List.of("--tool", tool, "--args", arguments));
    all.addAll(List.of(options));
    return read(NodeFixture.run(TIMEOUT, NodeFixture.SDK_CLIENT, all.toArray(String[]::new)));
  }

  /** Calls a tool of a server that the program starts and speaks to over stdio. */
  static TypeScriptClient callOverStdio(List<String> command, String tool, String arguments)
      throws JsonProcessingException {
    String words = JSON.writeValueAsString(command);
    return read(
        NodeFixture.run(
            TIMEOUT,
            NodeFixture.SDK_CLIENT,
            "--command",
            words,
            "--timeout-ms",
            "30000",
            "--tool",
            tool,
            "--args",
            arguments));
  }

  private static TypeScriptClient read(ProcessResult process) {
    try {
      JsonNode seen = JSON.readTree(process.stdout());
      return new TypeScriptClient(
          process.exitCode(),
          seen.path("progress").valueStream().map(JsonNode::asInt).toList(),
          seen.path("logs").valueStream().map(JsonNode::asText).toList(),
          seen.at("/result/content/0/text").asText(),
          seen.path("errors").valueStream().map(JsonNode::asText).toList(),
          seen.path("renewals").asInt());
    } catch (JsonProcessingException e) {
      throw new AssertionError(process.toString(), e);
    }
  }

  /** Checks that {@code count} went to its end: each value once and in order, and one result. */
  void hasCounted(int n) {
    assertThat(progress)
        .as(toString())
        .containsExactlyElementsOf(IntStream.rangeClosed(1, n).boxed().toList());
    assertThat(text).as(toString()).isEqualTo("counted " + n);
  }
}
