package dev.holdfast.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Limits of a client that spreads over two replicas, and of another that uses one. */
@Timeout(120)
class SharedLimitsIT {

  private static final AccessKey ALICE = AccessKey.random();
  private static final AccessKey BOB = AccessKey.random();
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int REPLICAS = 2;
  private static final int PER_SECOND = 20;
  private static final int CONNECTIONS = 9;

  private static List<Gateway> start(RedisFixture redis) {
    Map<String, String> settings =
        redis.gatewaySettings(
            "holdfast.auth.keys.alice.hash", ALICE.hash(),
            "holdfast.auth.keys.bob.hash", BOB.hash(),
            "holdfast.limits.requests-per-second", Integer.toString(PER_SECOND),
            "holdfast.limits.connections-per-address", Integer.toString(CONNECTIONS));
    return Gateway.startAll(Collections.nCopies(REPLICAS, settings));
  }

  /** Sends requests until it is stopped, faster than the limit, and counts the admitted ones. */
  private static final class Sender implements AutoCloseable {

    private final Thread thread;

    Sender(McpClient client, AtomicInteger admitted) {
      thread =
          Thread.ofVirtual()
              .start(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                  try {
                    if (client.post(PING).statusCode() != 429) {
                      admitted.incrementAndGet();
                    }
                    Thread.sleep(Duration.ofSeconds(1).dividedBy(3 * PER_SECOND));
                  } catch (InterruptedException | RuntimeException stopped) {
                    return;
                  }
                }
              });
    }

    @Override
    public void close() {
      thread.interrupt();
    }
  }

  /** How often one was admitted for each time that the other was, over some seconds. */
  private static double ratio(AtomicInteger of, AtomicInteger to) {
    int ofBefore = of.get();
    int toBefore = to.get();
    awaitMore(to, 3 * PER_SECOND);
    return (double) (of.get() - ofBefore) / (to.get() - toBefore);
  }

  private static void awaitMore(AtomicInteger counter, int more) {
    int before = counter.get();
    await().atMost(PATIENCE).until(() -> counter.get() >= before + more);
  }

  /** The one whose requests go to one replica is the clock: its rate is the limit. */
  @Test
  void shouldLimitTheRateOfAClientOnAllReplicasUntilRedisIsAway() {
    AtomicInteger spread = new AtomicInteger();
    AtomicInteger single = new AtomicInteger();
    List<Sender> senders = new ArrayList<>();
    try (RedisFixture redis = RedisFixture.start()) {
      List<Gateway> replicas = start(redis);
      try {
        McpClient alice = McpClient.at(replicas.getFirst().url(), ALICE);
        McpClient bob = McpClient.at(replicas.getFirst().url(), BOB);
        replicas.forEach(each -> senders.add(new Sender(alice.elsewhere(each.url()), spread)));
        senders.add(new Sender(bob, single));

        // Before the replicas have told each other, it is nearly 2.
        await().atMost(PATIENCE).until(() -> ratio(spread, single) < 1.4);
        assertThat(ratio(spread, single)).isBetween(0.6, 1.4);

        redis.kill();
        await().atMost(PATIENCE).until(() -> ratio(spread, single) > 1.6);
      } finally {
        senders.forEach(Sender::close);
        replicas.forEach(Gateway::close);
      }
    }
  }

  @Test
  void shouldLimitTheConnectionsOfAClientOnAllReplicasUntilOneIsLost() {
    try (RedisFixture redis = RedisFixture.start()) {
      List<Gateway> replicas = start(redis);
      try {
        McpClient bob = McpClient.at(replicas.get(1).url(), BOB);
        McpClient elsewhere = McpClient.at(replicas.get(1).url(), ALICE);
        assertThat(elsewhere.listen().status()).isEqualTo(200);
        List<McpClient> clients = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
          clients.add(opened(replicas.getFirst()));
        }
        List<FrameStream> streams = clients.stream().map(McpClient::listen).toList();
        assertThat(streams).extracting(FrameStream::status).contains(200);
        await().until(() -> elsewhere.post(PING).statusCode() == 429);
        assertThat(elsewhere.post(PING).body()).contains("Too many connections from this client");
        assertThat(bob.ask(PING)).contains("\"result\"");

        replicas.getFirst().kill();
        for (int i = 1; i < CONNECTIONS; i++) {
          McpClient moved = clients.get(i).elsewhere(replicas.get(1).url());
          await().atMost(Duration.ofSeconds(20)).until(() -> moved.listen().status() == 200);
        }
      } finally {
        replicas.forEach(Gateway::close);
      }
    }
  }

  /** A new session, however many requests there were in this second. */
  private static McpClient opened(Gateway replica) {
    return await()
        .until(
            () -> McpClient.at(replica.url(), ALICE),
            client -> client.initialized().statusCode() == 200);
  }
}
