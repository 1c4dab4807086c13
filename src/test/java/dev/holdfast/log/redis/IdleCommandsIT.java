package dev.holdfast.log.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisMonitor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that only waits costs no command of its own, but two or three in half an hour. */
@Timeout(200)
class IdleCommandsIT {

  private static final int STREAMS = 20;

  // Seconds, which are longer than all intervals in which a replica looks at what it has.
  private static final int SETTLED = 12;
  private static final int KEEP_ALIVES = 20;

  @Test
  void shouldSendNothingForClientsThatWait() {
    try (RedisFixture redis = RedisFixture.start()) {
      Map<String, String> settings = redis.gatewaySettings();
      settings.put("holdfast.stream.keep-alive", "1s");
      Gateway gateway = Gateway.start(settings);
      List<McpClient> clients = new ArrayList<>();
      List<FrameStream> streams = new ArrayList<>();
      for (int i = 0; i < STREAMS; i++) {
        McpClient client = McpClient.at(gateway.url()).ready();
        clients.add(client);
        streams.add(client.listen());
      }
      // The store has heard once that each client is connected.
      comments(streams, SETTLED);

      Queue<String> seen = new ConcurrentLinkedQueue<>();
      try (RedisMonitor _ = RedisMonitor.start(redis, seen::add)) {
        comments(streams, KEEP_ALIVES);
      }

      // Heartbeats and the quota of a replica that does nothing, and one probe each second.
      long probes = seen.stream().filter(each -> each.contains("\"publish\"")).count();
      assertThat(probes).isPositive();
      assertThat((long) seen.size()).isLessThan(11 * probes);
      assertThat(clients)
          .allSatisfy(
              client -> assertThat(seen).noneMatch(each -> each.contains(client.session())));

      seen.clear();
      String session = clients.getFirst().session();
      try (RedisMonitor _ = RedisMonitor.start(redis, seen::add)) {
        streams.getFirst().close();
        comments(List.of(clients.getFirst().resume("g_0-0")), SETTLED);
      }

      // Forgets the old tail, finds the session, notes the new one, reads before and after.
      assertThat(seen.stream().filter(each -> each.contains(session) && !each.contains(" lua] ")))
          .hasSizeBetween(6, 8);
    }
  }

  /** Waits until each stream has had so many keep-alive comments. */
  private static void comments(List<FrameStream> streams, int count) {
    for (FrameStream stream : streams) {
      for (int seen = 0; seen < count; ) {
        seen += stream.next() instanceof Frame.Comment ? 1 : 0;
      }
    }
  }
}
