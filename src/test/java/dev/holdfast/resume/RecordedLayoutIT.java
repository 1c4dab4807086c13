package dev.holdfast.resume;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.redis.LayoutGuard;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.SseClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * What replicas of an earlier version left in Redis: this version continues it. The recording was
 * made by the first version with this layout, and stays as it is until the layout changes.
 */
@Timeout(60)
class RecordedLayoutIT {

  private static final String FILE = "layout-" + LayoutGuard.LAYOUT + ".txt";
  private static final Path SOURCE = Path.of("src/test/resources/dev/holdfast/resume", FILE);

  /** Start of the keys that are not of Holdfast, but say what a client knows. */
  private static final String KNOWN = "client:";

  private static final int STEPS = 5;
  private static final int COMPLETE = 1;
  private static final int RUNNING = 2;
  private static final int CANCELLED = 3;

  private final Random random = new Random(1);

  @Test
  void shouldContinueWhatReplicasWithTheSameLayoutLeft() throws Exception {
    try (RedisFixture redis = RedisFixture.start();
        RecordedServer server = new RecordedServer();
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      RedisRecording.load(recording(), redis);
      String session = known(redis, "session");
      try (Gateway gateway = Gateway.start(settings(redis, server, "100ms", "300ms"))) {
        FollowingClient client = FollowingClient.of(http, List.of(gateway.url()), session);

        isWhole(resumed(client, known(redis, "complete")), 3, 4, 5);
        isWhole(resumed(client, known(redis, "running")), 2, 3, 4, 5);
        Transcript cancelled = resumed(client, known(redis, "cancelled"));
        assertThat(cancelled.isComplete()).as(cancelled.toString()).isFalse();
        Transcript heard = new Transcript();
        heard.comeFrom(known(redis, "standalone"));
        client.listen(heard, random, seen -> !seen.progress().isEmpty());
        assertThat(heard.progress()).containsExactly(2);
        try (FrameStream shared = SseClient.open(gateway.url("/sse"), known(redis, "shared"))) {
          assertThat(shared.event().data()).startsWith("/messages/");
          for (int step = 3; step <= STEPS; step++) {
            assertThat(shared.event().data()).contains("\"progress\":" + step);
          }
          assertThat(shared.event().data()).contains("\"result\"");
        }
        isWhole(client.call(RecordedServer.count(9, 2, STEPS), random), 1, 2);
        assertThat(client.end(random)).isEqualTo(204);
      }
    }
  }

  private Transcript resumed(FollowingClient client, String lastEventId)
      throws InterruptedException {
    Transcript transcript = new Transcript();
    transcript.comeFrom(lastEventId);
    client.resume(transcript, random);
    return transcript;
  }

  private static void isWhole(Transcript transcript, Integer... steps) {
    assertThat(transcript.progress()).as(transcript.toString()).containsExactly(steps);
    assertThat(transcript.results()).as(transcript.toString()).isEqualTo(1);
    assertThat(transcript.errors()).as(transcript.toString()).isEmpty();
  }

  private static List<String> recording() throws IOException {
    try (Reader file =
            new InputStreamReader(
                requireNonNull(
                    RecordedLayoutIT.class.getResourceAsStream(FILE),
                    "no recording of this layout; CONTRIBUTING.md says how to make one"),
                StandardCharsets.US_ASCII);
        BufferedReader lines = new BufferedReader(file)) {
      return lines.readAllLines();
    }
  }

  private static String known(RedisFixture redis, String name) {
    return redis.reply("GET", KNOWN + name).getFirst();
  }

  private static Map<String, String> settings(
      RedisFixture redis, RecordedServer server, String heartbeat, String deadAfter) {
    return redis.gatewaySettings(
        "holdfast.stream.retry",
        "100ms",
        "holdfast.cluster.heartbeat",
        heartbeat,
        "holdfast.cluster.dead-after",
        deadAfter,
        "holdfast.upstream.url",
        server.url().toString());
  }

  /**
   * Replaces the recording of this layout. One replica is killed while it runs two calls and the
   * standalone stream. Another one puts the cancellation of a call into the inbox, and is killed.
   */
  @Test
  @EnabledIfSystemProperty(named = "holdfast.layout", matches = "record")
  void shouldBeRecorded() throws Exception {
    try (RedisFixture redis = RedisFixture.start();
        RecordedServer server = new RecordedServer()) {
      List<Gateway> replicas = Gateway.startPair(settings(redis, server, "1s", "10m"));
      try (Gateway lost = replicas.getFirst();
          Gateway other = replicas.getLast()) {
        Map<String, String> known = new HashMap<>(use(lost, redis));
        McpClient client = McpClient.at(lost.url()).ready();
        known.put("session", client.session());
        known.put("complete", lastOf(client.stream(RecordedServer.count(COMPLETE, STEPS, 9)), 2));
        known.put("running", lastOf(client.stream(RecordedServer.count(RUNNING, STEPS, 3)), 1));
        known.put("cancelled", lastOf(client.stream(RecordedServer.count(CANCELLED, STEPS, 3)), 3));
        known.put("standalone", lastOf(client.listen(), 1));
        await().until(() -> redis.keys().contains("holdfast:{" + client.session() + "}:streams"));
        lost.kill();
        client
            .elsewhere(other.url())
            .post(
                """
                {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}\
                """
                    .formatted(CANCELLED));
        other.kill();
        known.forEach((name, value) -> redis.command("SET", KNOWN + name, value));
      }
      RedisRecording.write(redis, SOURCE);
    }
  }

  /** Lets a client over HTTP with SSE call; returns what it knows. */
  private static Map<String, String> use(Gateway replica, RedisFixture redis) {
    SseClient client = SseClient.initialized(replica.url("/sse"));
    client.stream().event(); // That of the standalone stream.
    client.post(RecordedServer.count(COMPLETE, STEPS, 9));
    String last = lastOf(client.stream(), 2);
    await().until(() -> redis.keys().contains("holdfast:{" + client.session() + "}:ends"));
    return Map.of("shared", last);
  }

  /** The id of the last of so many events, after which the client goes away. */
  private static String lastOf(FrameStream stream, int events) {
    try (stream) {
      String id = "";
      for (int i = 0; i < events; i++) {
        id = stream.event().id();
      }
      return id;
    }
  }
}
