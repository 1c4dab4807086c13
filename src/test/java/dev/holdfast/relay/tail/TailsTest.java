package dev.holdfast.relay.tail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.LogFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TailsTest {

  private static final int CLIENTS = 4;

  private final LogFixture fixture = new LogFixture();

  private List<TestConnection> follow() {
    List<TestConnection> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      fixture.open("s" + i);
      clients.add(fixture.follow("s" + i, Position.START, TailKind.RESUMED));
    }
    await().until(() -> fixture.tails.size() == CLIENTS);
    return clients;
  }

  /** The replica that gets them may just have started and would be slow. */
  @Test
  void shouldMoveOneAfterTheOther() throws Exception {
    List<TestConnection> clients = follow();
    Duration apart = Duration.ofMillis(50);
    long begun = System.nanoTime();

    fixture.tails.moveInTurn(apart, Duration.ofHours(1));

    assertThat(System.nanoTime() - begun)
        .isGreaterThanOrEqualTo(apart.multipliedBy(CLIENTS - 1).toNanos());
    for (TestConnection client : clients) {
      client.awaitEnd();
    }
  }

  @Test
  void shouldMoveManyWithinTheTime() throws Exception {
    List<TestConnection> clients = follow();

    fixture.tails.moveInTurn(Duration.ofHours(1), Duration.ofMillis(50));

    for (TestConnection client : clients) {
      client.awaitEnd();
    }
  }

  @Test
  void shouldMoveLaterClientsAtOnce() throws Exception {
    fixture.tails.moveInTurn(Duration.ofHours(1), Duration.ofHours(1));
    fixture.open("late");

    TestConnection client = fixture.follow("late", Position.START, TailKind.REQUEST);
    client.awaitEnd();

    assertThat(client.text()).endsWith("retry: 500\n\n");
  }

  /** Some clients resume their standalone stream, but not the streams of their calls. */
  @Test
  void shouldNoteClientsThatResumeTheStreamsOfRequests() {
    fixture.open("g");
    fixture.follow("g", Position.START, TailKind.RESUMED).await(c -> !c.text().isEmpty());
    assertThat(fixture.tails.hasResumed(LogFixture.SESSION)).isFalse();

    fixture.open("s");
    fixture.follow("s", Position.START, TailKind.RESUMED).await(c -> !c.text().isEmpty());
    assertThat(fixture.tails.hasResumed(LogFixture.SESSION)).isTrue();

    fixture.tails.sweep();
    assertThat(fixture.tails.hasResumed(LogFixture.SESSION)).isFalse();
  }

  /** Such a client may give up when its stream ends at once again. */
  @Test
  void shouldServeLaterClientsThatResume() throws Exception {
    fixture.tails.moveInTurn(Duration.ofHours(1), Duration.ofHours(1));
    StreamWriter writer = fixture.open("late");

    TestConnection client = fixture.follow("late", Position.START, TailKind.RESUMED);
    client.await(c -> !c.text().isEmpty());
    writer.append(LogTesting.numbered(1, 1));
    client.await(c -> c.data().size() == 1);
    fixture.tails.leave();
    client.awaitEnd();

    assertThat(client.data()).containsExactly("1");
    assertThat(client.text()).endsWith("retry: 500\n\n");
  }
}
