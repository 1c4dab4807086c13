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
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Clients that do not read. A tail that waited in a write once noticed neither a newer tail nor its
 * own age, and held its connection until TCP gave up.
 */
@Timeout(30)
class TailStallTest {

  private static final Duration SHORT = Duration.ofMillis(200);

  private final LogFixture fixture = new LogFixture();

  private TestConnection stuck() {
    fixture.open("s").append(LogTesting.numbered(1, 10));
    TestConnection client = new TestConnection().stall();
    LogFixture.run(fixture.tail("s", Position.START, TailKind.REQUEST), client);
    client.awaitWrite();
    return client;
  }

  @Test
  void shouldResetAClientThatReadsNothing() {
    fixture.streams = Settings.streams(Map.of("write-timeout", SHORT));

    TestConnection client = stuck();

    client.awaitEnd();
    assertThat(client.wasAborted()).isTrue();
    assertThat(client.text()).isEmpty();
    await().until(() -> fixture.heard.connections.get() == 0);
  }

  @Test
  void shouldResetAStuckClientAtTheMaximumLifetime() {
    fixture.streams = Settings.streams(Map.of("max-lifetime", SHORT));

    TestConnection client = stuck();

    client.awaitEnd();
    assertThat(client.wasAborted()).isTrue();
  }

  @Test
  void shouldResetAStuckClientThatIsEvicted() {
    TestConnection older = stuck();

    TestConnection newer = fixture.follow("s");

    older.awaitEnd();
    assertThat(older.wasAborted()).isTrue();
    newer.await(c -> c.data().equals(LogFixture.numbers(1, 10)));
    assertThat(newer.hasEnded()).isFalse();
    newer.leave();
  }

  @Test
  void shouldResetAStuckClientOfADrainingReplica() {
    fixture.open("s").append(LogTesting.numbered(1, 10));
    TestConnection client = new TestConnection().stall();
    Tail tail = fixture.tail("s", Position.START, TailKind.REQUEST);
    LogFixture.run(tail, client);
    client.awaitWrite();

    tail.depart(Departure.MOVE);

    client.awaitEnd();
    assertThat(client.wasAborted()).isTrue();
  }

  /** The timeout applies to clients that read nothing, not to slow ones with large events. */
  @Test
  void shouldServeAClientThatReadsSlowly() {
    Duration stall = Duration.ofSeconds(2);
    fixture.streams = Settings.streams(Map.of("write-timeout", stall));
    String large = "x".repeat(8 * ClientWriter.CHUNK);
    fixture.open("s").append(List.of(new NewEvent(large.getBytes(UTF_8), null, true)));
    TestConnection client = new TestConnection().stall();
    long since = System.nanoTime();
    LogFixture.run(fixture.tail("s", Position.START, TailKind.REQUEST), client);

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

  /** Before, each of many slow clients held a large event. */
  @Test
  void shouldReadALargeEventWhenItsBytesAreFree() throws Exception {
    String large = "x".repeat(2 * (int) PageReader.LARGEST);
    fixture
        .open("s")
        .append(
            List.of(
                new NewEvent("{}".getBytes(UTF_8), null, false),
                new NewEvent(large.getBytes(UTF_8), null, false),
                new NewEvent("{}".getBytes(UTF_8), null, true)));
    TestConnection client = new TestConnection();
    client.refuseLargeEvents();
    LogFixture.run(fixture.tail("s", Position.START, TailKind.REQUEST), client);

    client.awaitRefusalAndAllow();

    client.awaitEnd();
    assertThat(client.data()).containsExactly("{}", large, "{}");
    assertThat(client.mostHeld()).isGreaterThanOrEqualTo(PageReader.LARGEST / 2);
    assertThat(client.held()).isZero();
  }

  @Test
  void shouldNotCountEventsThatAStuckClientDidNotTake() {
    fixture.streams = Settings.streams(Map.of("write-timeout", SHORT));
    fixture.open(StreamNames.STANDALONE).append(LogTesting.numbered(1, 3));
    TestConnection client = new TestConnection().stall();

    fixture.tail(StreamNames.STANDALONE, Position.START, TailKind.STANDALONE).run(client);

    assertThat(client.wasAborted()).isTrue();
    assertThat(fixture.log.deliveredUpTo(LogFixture.ref(StreamNames.STANDALONE)))
        .isEqualTo(Position.START);
  }
}
