package dev.holdfast.deploy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The script of {@code helm test}, with two replicas behind a plain load balancer. */
@Timeout(60)
class ResumeScriptIT {

  private static RedisFixture redis;
  private static List<Gateway> replicas;
  private static RoundRobin balancer;

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    replicas = Gateway.startPair(redis.gatewaySettings());
    balancer = RoundRobin.over(replicas.getFirst().url(), replicas.getLast().url());
  }

  @AfterAll
  static void stop() {
    balancer.close();
    replicas.forEach(Gateway::close);
    redis.close();
  }

  @Test
  void shouldResumeCallOfTool() throws Exception {
    assertThat(run("/mcp", "countdown", "{\"from\":1}")).isEqualTo("exit code 0");
  }

  @Test
  void shouldResumeCallOfUnknownTool() throws Exception {
    assertThat(run("/mcp", "no-such-tool", "{}")).isEqualTo("exit code 0");
  }

  @Test
  void shouldFailWithoutSession() throws Exception {
    assertThat(run("/servers/none/mcp", "countdown", "{}"))
        .contains("FAILED: no session")
        .endsWith("exit code 1");
  }

  /** Returns the errors and the exit code. */
  private static String run(String path, String tool, String arguments)
      throws IOException, InterruptedException {
    ProcessBuilder script =
        new ProcessBuilder("sh", Chart.RELEASED.directory().resolve("files/resume.sh").toString());
    URI url = URI.create("http://localhost:" + balancer.url().getPort() + path);
    script
        .environment()
        .putAll(Map.of("URL", url.toString(), "TOOL", tool, "ARGUMENTS", arguments));
    script.redirectOutput(ProcessBuilder.Redirect.DISCARD);
    Process running = script.start();
    String errors = new String(running.getErrorStream().readAllBytes(), UTF_8);
    return errors + "exit code " + running.waitFor();
  }
}
