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
  private static final Position SECOND = new Position(LogFixture.START_MILLIS, 2);

  /** Starts a client that has two events of a stream of which the first twenty are purged. */
  private TestConnection leaveBehind(String stream, TailKind kind) {
    StreamWriter purged = stream.equals("s") ? writer : fixture.open(stream);
    purged.append(LogTesting.numbered(1, 30));
    return fixture.follow(stream, SECOND, kind);
  }

  @Test
  void shouldCloseTheConnectionAtAGapOfAStreamWithoutRequests() {
    TestConnection client = leaveBehind("m", TailKind.RESUMED);
    client.awaitEnd();

    assertThat(client.data()).isEmpty();
    assertThat(client.text()).endsWith("retry: 5000\n\n");
    assertThat(fixture.heard.gaps).hasValue(0); // The 410 counts that the client gets next.
  }

  /** A call whose notifications were purged once lost its result, too. */
  @Test
  void shouldNameTheGapOfARequestAndBringItsResult() {
    assertContinues(leaveBehind("s", TailKind.RESUMED), writer, "s");
  }

  @Test
  void shouldNameTheGapAndContinueWhenConfigured() {
    fixture.onGap = ReplayConfig.OnGap.CONTINUE;
    StreamWriter purged = fixture.open("m");
    purged.append(LogTesting.numbered(1, 30));

    assertContinues(fixture.follow("m", SECOND, TailKind.RESUMED), purged, "m");
  }

  private void assertContinues(TestConnection client, StreamWriter open, String stream) {
    client.await(c -> c.data().size() == 10);
    open.append(LogFixture.complete(31, 31));
    client.awaitEnd();

    long millis = LogFixture.START_MILLIS;
    assertThat(client.text())
        .contains(
            ": gap: events after %d-2 up to %d-20 are purged\n\nid: %s_%d-21\n"
                .formatted(millis, millis, stream, millis));
    assertThat(client.data()).isEqualTo(LogFixture.numbers(21, 31));
    assertThat(fixture.heard.gaps).hasValue(1);
  }

  @Test
  void shouldContinueAfterAGapForAClientWithoutACursor() {
    TestConnection client = leaveBehind("g", TailKind.STANDALONE);
    client.await(c -> c.data().size() == 10);

    assertThat(client.data()).isEqualTo(LogFixture.numbers(21, 30));
  }

  /** A slow client once lost what the limits removed before it had read it. */
  @Test
  void shouldBringASlowClientWhatTheLimitsWouldPurge() {
    TestConnection client = fixture.follow("s", Position.START, TailKind.REQUEST);
    writer.append(LogTesting.numbered(1, 1));
    client.await(c -> c.data().size() == 1);
    client.stall();
    for (int n = 2; n <= 100; n++) {
      writer.append(LogTesting.numbered(n, n));
    }
    client.read();
    writer.append(LogFixture.complete(101, 101));
    client.awaitEnd();

    assertThat(client.data()).isEqualTo(LogFixture.numbers(1, 101));
    assertThat(fixture.heard.gaps).hasValue(0);
  }

  @Test
  void shouldStartAtTheOldestEventForAClientWithoutACursor() {
    writer.append(LogTesting.numbered(1, 30));

    TestConnection client = fixture.follow("s", Position.START, TailKind.FROM_START);
    client.await(c -> c.data().size() == 10);

    assertThat(client.data()).isEqualTo(LogFixture.numbers(21, 30));
  }

  @Test
  void shouldWaitForTheNextEventWhenTheLogIsEmpty() {
    writer.append(LogTesting.numbered(1, 3));
    fixture.now.addAndGet(Duration.ofHours(2).toMillis());
    fixture.log.sweep();

    TestConnection client = fixture.follow("s", Position.START, TailKind.STANDALONE);
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

    TestConnection client = fixture.follow("s", ahead, TailKind.RESUMED);
    client.awaitEnd();

    assertThat(client.data()).isEmpty();
    assertThat(client.text()).endsWith("retry: 5000\n\n");
    assertThat(fixture.heard.gaps).hasValue(0);
  }
}
