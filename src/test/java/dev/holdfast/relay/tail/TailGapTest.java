package dev.holdfast.relay.tail;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.stream.ReplayConfig;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TailGapTest {

  private final LogFixture fixture = new LogFixture(10);
  private final StreamWriter writer = fixture.open("s");

  /** Starts a client that has the first event and cannot take the second, and purges both. */
  private TestConnection leaveBehind(Tail.Kind kind) {
    writer.append(LogTesting.numbered(1, 1));
    TestConnection client = fixture.follow("s", Position.START, kind);
    client.await(c -> c.data().size() == 1);
    client.stall();
    client.awaitWrite();
    writer.append(LogTesting.numbered(2, 2));
    client.awaitWrite();
    writer.append(LogTesting.numbered(3, 30));
    client.read();
    return client;
  }

  @Test
  void shouldCloseTheConnectionAtAGap() {
    TestConnection client = leaveBehind(Tail.Kind.REQUEST);
    client.awaitEnd();

    assertThat(client.data()).containsExactly("1", "2");
    assertThat(client.text()).endsWith("data: 2\n\nretry: 5000\n\n");
    assertThat(fixture.heard.gaps).hasValue(1);
  }

  @Test
  void shouldNameTheGapAndContinueWhenConfigured() {
    fixture.onGap = ReplayConfig.OnGap.CONTINUE;
    TestConnection client = leaveBehind(Tail.Kind.RESUMED);
    client.await(c -> c.data().size() == 12);
    writer.append(LogFixture.complete(31, 31));
    client.awaitEnd();

    long millis = LogFixture.START_MILLIS;
    assertThat(client.text())
        .contains(
            "data: 2\n\n: gap: events after %d-2 up to %d-20 are purged\n\nid: s_%d-21\n"
                .formatted(millis, millis, millis));
    assertThat(client.data().subList(2, 13)).isEqualTo(LogFixture.numbers(21, 31));
    assertThat(fixture.heard.gaps).hasValue(1);
  }

  @Test
  void shouldContinueAfterAGapForAClientWithoutACursor() {
    TestConnection client = leaveBehind(Tail.Kind.STANDALONE);
    client.await(c -> c.data().size() == 12);

    assertThat(client.data().subList(2, 12)).isEqualTo(LogFixture.numbers(21, 30));
  }

  @Test
  void shouldStartAtTheOldestEventForAClientWithoutACursor() {
    writer.append(LogTesting.numbered(1, 30));

    TestConnection client = fixture.follow("s", Position.START, Tail.Kind.FROM_START);
    client.await(c -> c.data().size() == 10);

    assertThat(client.data()).isEqualTo(LogFixture.numbers(21, 30));
  }

  @Test
  void shouldWaitForTheNextEventWhenTheLogIsEmpty() {
    writer.append(LogTesting.numbered(1, 3));
    fixture.now.addAndGet(Duration.ofHours(2).toMillis());
    fixture.log.sweep();

    TestConnection client = fixture.follow("s", Position.START, Tail.Kind.STANDALONE);
    client.await(c -> c.text().contains(": gap: "));
    writer.append(LogTesting.numbered(4, 4));
    client.await(c -> !c.data().isEmpty());

    assertThat(client.data()).containsExactly("4");
  }

  @Test
  void shouldFindAGapWhenTheStoreLostEventsOfTheClient() {
    writer.append(LogTesting.numbered(1, 3));
    List<LogEvent> events = fixture.events("s");
    Position ahead = new Position(events.getLast().position().millis(), 9);

    TestConnection client = fixture.follow("s", ahead, Tail.Kind.RESUMED);
    client.awaitEnd();

    assertThat(client.data()).isEmpty();
    assertThat(fixture.heard.gaps).hasValue(1);
  }
}
