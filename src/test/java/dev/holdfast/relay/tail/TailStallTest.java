package dev.holdfast.relay.tail;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.Settings;
import dev.holdfast.relay.stream.StreamNames;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Clients that take nothing. A tail that waited in a write once knew of nothing else: neither a
 * newer tail nor its own age ended it, and it kept its connection's place until TCP gave up.
 */
@Timeout(30)
class TailStallTest {

  private static final Duration SHORT = Duration.ofMillis(200);

  private final LogFixture desk = new LogFixture();

  private TestConnection stuck() {
    desk.open("s").append(LogTesting.numbered(1, 10));
    TestConnection client = new TestConnection().stall();
    LogFixture.run(desk.tail("s", Position.START, Tail.Kind.REQUEST), client);
    client.awaitWrite();
    return client;
  }

  @Test
  void shouldCutOffAClientThatTakesNothing() {
    desk.streams = Settings.streams().writeTimeout(SHORT);

    TestConnection client = stuck();

    client.awaitEnd();
    assertThat(client.wasAborted()).isTrue();
    assertThat(client.text()).isEmpty();
    await().until(() -> desk.heard.connections.get() == 0);
  }

  @Test
  void shouldCutOffAStuckClientWhoseLifeIsOver() {
    desk.streams = Settings.streams().maxLifetime(SHORT);

    TestConnection client = stuck();

    client.awaitEnd();
    assertThat(client.wasAborted()).isTrue();
  }

  @Test
  void shouldCutOffAStuckClientThatIsEvicted() {
    TestConnection older = stuck();

    TestConnection newer = desk.follow("s");

    older.awaitEnd();
    assertThat(older.wasAborted()).isTrue();
    newer.await(c -> c.data().equals(LogFixture.numbers(1, 10)));
    assertThat(newer.hasEnded()).isFalse();
    newer.leave();
  }

  @Test
  void shouldCutOffAStuckClientWhoseReplicaStops() {
    desk.open("s").append(LogTesting.numbered(1, 10));
    TestConnection client = new TestConnection().stall();
    Tail tail = desk.tail("s", Position.START, Tail.Kind.REQUEST);
    LogFixture.run(tail, client);
    client.awaitWrite();

    tail.move();

    client.awaitEnd();
    assertThat(client.wasAborted()).isTrue();
  }

  /** What is counted is standstill, not slowness: an event may be larger than a link is fast. */
  @Test
  void shouldBearWithAClientThatTakesALittleNowAndThen() {
    Duration stall = Duration.ofSeconds(2);
    desk.streams = Settings.streams().writeTimeout(stall);
    String large = "x".repeat(8 * ClientWriter.CHUNK);
    desk.open("s").append(List.of(new NewEvent(large.getBytes(UTF_8), null, true)));
    TestConnection client = new TestConnection().stall();
    long since = System.nanoTime();
    LogFixture.run(desk.tail("s", Position.START, Tail.Kind.REQUEST), client);

    await()
        .pollInterval(stall.dividedBy(5))
        .until(() -> {
          client.take(1);
          return client.hasEnded();
        });

    assertThat(System.nanoTime() - since).isGreaterThan(stall.toNanos());
    assertThat(client.wasAborted()).isFalse();
    assertThat(client.data()).containsExactly(large);
  }

  @Test
  void shouldNotCountWhatAStuckClientDidNotTake() {
    desk.streams = Settings.streams().writeTimeout(SHORT);
    desk.open(StreamNames.STANDALONE).append(LogTesting.numbered(1, 3));
    TestConnection client = new TestConnection().stall();

    desk.tail(StreamNames.STANDALONE, Position.START, Tail.Kind.STANDALONE).run(client);

    assertThat(client.wasAborted()).isTrue();
    assertThat(desk.log.deliveredUpTo(LogFixture.ref(StreamNames.STANDALONE)))
        .isEqualTo(Position.START);
  }
}
