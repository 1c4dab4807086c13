package dev.holdfast.relay.tail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.Position;
import dev.holdfast.relay.LogFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TailsTest {

  private static final int CLIENTS = 4;

  private final LogFixture desk = new LogFixture();

  private List<TestConnection> follow() {
    List<TestConnection> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      desk.open("s" + i);
      clients.add(desk.follow("s" + i, Position.START, Tail.Kind.RESUMED));
    }
    await().until(() -> desk.tails.size() == CLIENTS);
    return clients;
  }

  /** Whoever gets them all at once may have just started, and would keep them waiting. */
  @Test
  void shouldMoveOneAfterTheOther() throws Exception {
    List<TestConnection> clients = follow();
    Duration apart = Duration.ofMillis(50);
    long begun = System.nanoTime();

    desk.tails.moveInTurn(apart, Duration.ofHours(1));

    assertThat(System.nanoTime() - begun)
        .isGreaterThanOrEqualTo(apart.multipliedBy(CLIENTS - 1).toNanos());
    for (TestConnection client : clients) {
      client.awaitEnd();
    }
  }

  @Test
  void shouldMoveManyWithinTheTime() throws Exception {
    List<TestConnection> clients = follow();

    desk.tails.moveInTurn(Duration.ofHours(1), Duration.ofMillis(50));

    for (TestConnection client : clients) {
      client.awaitEnd();
    }
  }

  @Test
  void shouldMoveAtOnceWhoeverStillComes() throws Exception {
    desk.tails.moveInTurn(Duration.ofHours(1), Duration.ofHours(1));
    desk.open("late");

    TestConnection client = desk.follow("late", Position.START, Tail.Kind.RESUMED);
    client.awaitEnd();

    assertThat(client.text()).endsWith("retry: 500\n\n");
  }
}
