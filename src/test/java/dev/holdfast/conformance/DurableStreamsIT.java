package dev.holdfast.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.ProcessResult;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The conformance suite for servers of Durable Streams, as far as it reads. What it cannot ask of
 * calls stands with the reason in {@code streams/left-out.md} of the test resources.
 */
class DurableStreamsIT {

  private static final Path LEFT_OUT =
      Path.of("src", "test", "resources", "streams", "left-out.md");
  private static final Duration LIMIT = Duration.ofMinutes(15);

  /** Tests that pass. A new version of the suite may bring more. */
  private static final int PASSING = 100;

  private static List<String> leftOut() throws IOException {
    return Files.readAllLines(LEFT_OUT).stream()
        .filter(line -> line.contains(" > ") || line.contains("*"))
        .filter(line -> line.startsWith("| "))
        .map(line -> line.substring(2, line.indexOf(" | ")))
        .toList();
  }

  /** Matches the full names of the tests that are not left out. */
  private static String others(List<String> leftOut) {
    return leftOut.stream()
        .map(name -> name.replace(" > ", " "))
        .map(name ->
            name.endsWith("*")
                ? escaped(name.substring(0, name.length() - 1))
                : escaped(name) + "$")
        .collect(Collectors.joining("|", "^(?!(?:", "))"));
  }

  /** For the regular expressions of JavaScript. */
  private static String escaped(String text) {
    return text.replaceAll("[\\\\^$.*+?()\\[\\]{}|/]", "\\\\$0");
  }

  private static List<String> tests(ProcessResult suite, String state) {
    return suite
        .stdout()
        .lines()
        .filter(line -> line.startsWith(state + "\t"))
        .map(line -> line.substring(state.length() + 1))
        .toList();
  }

  @Test
  void shouldLetCallsBeReadAsTheProtocolSays() throws Exception {
    List<String> leftOut = leftOut();
    try (NodeFixture front = NodeFixture.start("streams/front.mjs");
        Gateway gateway =
            Gateway.start(
                Map.of(
                    "holdfast.upstream.url", front.url().toString(),
                    "holdfast.calls.follow", "true",
                    "holdfast.http.allowed-origins", "*",
                    "holdfast.limits.connections-per-address", "10000",
                    "holdfast.limits.requests-per-address", "10000",
                    "holdfast.limits.sessions-per-address", "10000"));
        HttpClient client = HttpClient.newHttpClient()) {
      String origin = gateway.url("").toString();
      HttpRequest tell =
          HttpRequest.newBuilder(front.url("/gateway"))
              .PUT(HttpRequest.BodyPublishers.ofString(origin))
              .build();
      assertThat(client.send(tell, BodyHandlers.discarding()).statusCode()).isEqualTo(204);

      ProcessResult suite =
          NodeFixture.run(LIMIT, "streams/suite.mjs", front.url("").toString(), others(leftOut));

      assertThat(tests(suite, "failed")).as(front.output()).isEmpty();
      assertThat(tests(suite, "passed")).as(suite.toString()).hasSize(PASSING);
      List<String> skipped = tests(suite, "skipped");
      assertThat(leftOut).allMatch(name -> skipped.stream().anyMatch(test -> covers(name, test)));
    }
  }

  private static boolean covers(String name, String test) {
    return Pattern.matches(
        name.endsWith("*")
            ? Pattern.quote(name.substring(0, name.length() - 1)) + ".*"
            : Pattern.quote(name),
        test);
  }
}
