package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ToolRequest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sessions with a process on one replica, whose client is at the other one, or away. */
@Timeout(240)
@Tag("alone")
@Tag("long")
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class AbandonedSessionsIT {

  /** The shortest that the configuration allows. */
  private static final Duration ABANDONED = Duration.ofSeconds(30);

  private static RedisFixture redis;
  private static Gateway owner;
  private static Gateway other;

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    List<Gateway> pair =
        Gateway.startPair(
            redis.gatewaySettings(
                "holdfast.session.abandoned-timeout",
                ABANDONED.toSeconds() + "s",
                "holdfast.upstream.command",
                NodeFixture.commandLine(NodeFixture.EVERYTHING, "stdio")));
    owner = pair.getFirst();
    other = pair.getLast();
  }

  @AfterAll
  static void stop() {
    other.close();
    owner.close();
    redis.close();
  }

  private static boolean exists(McpClient client) {
    return redis.command("HEXISTS", "holdfast:{" + client.session() + "}", "upstream").equals(":1");
  }

  @Test
  void shouldKeepASessionWhoseClientIsConnectedToAnotherReplica() {
    McpClient connected = McpClient.at(owner.url()).ready();
    McpClient abandoned = McpClient.at(owner.url()).ready();
    try (FrameStream _ = connected.elsewhere(other.url()).listen()) {
      // Nothing passes on the stream, and both sessions are of the same age.
      assertThat(exists(abandoned)).isTrue();
      await().atMost(ABANDONED.multipliedBy(4)).until(() -> !exists(abandoned));
      assertThat(exists(connected)).isTrue();
    }

    await().atMost(ABANDONED.multipliedBy(4)).until(() -> !exists(connected));
  }

  @Test
  void shouldKeepASessionWithAnOpenCallUntilItsClientIsBack() {
    McpClient client = McpClient.at(owner.url()).ready();
    McpClient abandoned = McpClient.at(owner.url()).ready();
    FrameStream call =
        client.stream(
            ToolRequest.of(
                1,
                "trigger-long-running-operation",
                "{\"duration\":%d,\"steps\":2}".formatted(ABANDONED.toSeconds() * 3 / 2)));
    await().until(() -> !call.lastEventId().isEmpty());
    call.cut();
    await().atMost(ABANDONED.multipliedBy(4)).until(() -> !exists(abandoned));

    try (FrameStream rest = client.elsewhere(other.url()).resume(call.lastEventId())) {
      assertThat(rest.events()).last().asString().contains("\"result\"");
    }
  }
}
