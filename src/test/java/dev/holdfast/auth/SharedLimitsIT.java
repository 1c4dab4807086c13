package dev.holdfast.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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

  private static List<Gateway> start(RedisFixture redis, String limit, int most) {
    Map<String, String> settings =
        redis.gatewaySettings(
            "holdfast.auth.keys.alice.hash",
            ALICE.hash(),
            "holdfast.auth.keys.bob.hash",
            BOB.hash(),
            "holdfast.limits." + limit,
            Integer.toString(most));
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
      List<Gateway> replicas = start(redis, "requests-per-second", PER_SECOND);
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
      List<Gateway> replicas = start(redis, "connections-per-address", CONNECTIONS);
      try {
        McpClient bob = McpClient.at(replicas.get(1).url(), BOB);
        McpClient elsewhere = McpClient.at(replicas.get(1).url(), ALICE);
        assertThat(elsewhere.listen().status()).isEqualTo(200);
        listen(replicas.getFirst(), CONNECTIONS - 1);
        await().until(() -> elsewhere.post(PING).statusCode() == 429);
        assertThat(elsewhere.post(PING).body()).contains("Too many connections from this client");
        assertThat(bob.ask(PING)).contains("\"result\"");

        replicas.getFirst().kill();
        listen(replicas.get(1), CONNECTIONS - 1);
      } finally {
        replicas.forEach(Gateway::close);
      }
    }
  }

  /** Opens streams, each in a session of its own and as soon as the limit admits it. */
  private static void listen(Gateway replica, int streams) {
    for (int i = 0; i < streams; i++) {
      McpClient client = McpClient.at(replica.url(), ALICE);
      await().atMost(PATIENCE).until(() -> client.listen().status() == 200);
    }
  }
}
