package dev.holdfast.relay.tail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.FaultyLog;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.stream.StreamListener;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class TailReplayTest {

  private final LogFixture fixture = new LogFixture();
  private final FaultyLog log = new FaultyLog(fixture.log);

  TailReplayTest() {
    fixture.log = log;
  }

  private ReadResult read(String stream) {
    return log.read(LogFixture.ref(stream), Position.START, 1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 499, 500, 501, 1000, 1500})
  void shouldReplayACompleteStreamInPages(int count) {
    fixture.open("s").append(LogFixture.complete(1, count));

    TestConnection client = fixture.follow("s");
    client.awaitEnd();

    assertThat(client.data()).isEqualTo(LogFixture.numbers(1, count));
    assertThat(fixture.heard.delivered).hasValue(count);
    assertThat(fixture.heard.connections).hasValue(0);
  }

  @Test
  void shouldReportOnlyAResultThatWasThereBeforeItsClientCame() {
    StreamWriter live = fixture.open("a");
    TestConnection waiting = fixture.follow("a", Position.START, TailKind.RESUMED);
    waiting.await(c -> fixture.heard.connections.get() == 1);
    live.append(LogFixture.complete(1, 1));
    waiting.awaitEnd();
    fixture.open("b").append(LogFixture.complete(1, 1));
    fixture.now.incrementAndGet();

    fixture.follow("b", Position.START, TailKind.REQUEST).awaitEnd();
    await().until(() -> fixture.heard.connections.get() == 0);
    assertThat(fixture.heard.results).isEmpty();
    fixture.follow("b", Position.START, TailKind.RESUMED).awaitEnd();

    await()
        .untilAsserted(
            () -> assertThat(fixture.heard.results).containsExactly(StreamListener.Result.LATE));
  }

  @ParameterizedTest
  @ValueSource(ints = {499, 500, 501, 1500})
  void shouldFollowLiveAfterAReplayOfWholePages(int count) {
    StreamWriter writer = fixture.open("s");
    writer.append(LogTesting.numbered(1, count));
    TestConnection client = fixture.follow("s");
    client.await(c -> c.data().size() == count);

    writer.append(LogFixture.complete(count + 1, count + 2));
    client.awaitEnd();

    assertThat(client.data()).isEqualTo(LogFixture.numbers(1, count + 2));
  }

  @Test
  void shouldOpenWithItsCursorAndGiveEachEventItsPosition() {
    fixture.open("s").append(LogFixture.complete(1, 2));
    List<LogEvent> events = fixture.events("s");

    TestConnection client = fixture.follow("s");
    client.awaitEnd();

    assertThat(client.text())
        .isEqualTo(
            "id: s_0-0\nretry: 5000\ndata: \n\n"
                + "id: s_%s\ndata: 1\n\nid: s_%s\ndata: 2\n\n"
                    .formatted(events.getFirst().position(), events.getLast().position()));
  }

  @Test
  void shouldGoOnAfterTheCursor() {
    fixture.open("s").append(LogFixture.complete(1, 10));
    Position fourth = fixture.events("s").get(3).position();

    TestConnection client = fixture.follow("s", fourth, TailKind.RESUMED);
    client.awaitEnd();

    assertThat(client.data()).isEqualTo(LogFixture.numbers(5, 10));
    assertThat(fixture.heard.replays).containsExactly(6);
  }

  @Test
  void shouldMeasureTheDelayOfEventsThatWereNotMissed() {
    StreamWriter writer = fixture.open("s");
    writer.append(LogTesting.numbered(1, 3));
    fixture.now.addAndGet(1000);
    TestConnection resumed = fixture.follow("s", Position.START, TailKind.RESUMED);
    resumed.await(c -> c.data().size() == 3);
    await().untilAsserted(() -> assertThat(fixture.heard.replays).hasSize(1));
    assertThat(fixture.heard.delays).isEmpty();

    writer.append(LogFixture.complete(4, 4));
    resumed.awaitEnd();
    fixture.now.addAndGet(250);
    fixture.follow("s").awaitEnd();

    assertThat(fixture.heard.delays).containsExactly(Duration.ZERO, Duration.ofMillis(1250));
  }

  @Test
  void shouldCountOnlyEarlierEventsAsReplayed() {
    StreamWriter writer = fixture.open("s");
    writer.append(LogTesting.numbered(1, 3));
    TestConnection client = fixture.follow("s", Position.START, TailKind.RESUMED);
    client.await(c -> !fixture.heard.replays.isEmpty());

    writer.append(LogFixture.complete(4, 6));
    client.awaitEnd();

    assertThat(fixture.heard.replays).containsExactly(3);
  }

  @Test
  void shouldEndAtOnceWhenTheStreamHasEndedAtTheCursor() {
    Position end = fixture.open("s").append(LogFixture.complete(1, 2));

    TestConnection client = fixture.follow("s", end, TailKind.RESUMED);
    client.awaitEnd();

    assertThat(client.text()).isEqualTo("id: s_%s\nretry: 5000\ndata: \n\n".formatted(end));
    assertThat(log.retired).hasValue(0);
  }

  @Test
  void shouldEndWhenTheSessionEnds() {
    fixture.open("s").append(LogTesting.numbered(1, 1));
    TestConnection client = fixture.follow("s");
    client.await(c -> c.data().size() == 1);

    log.end(LogFixture.SESSION);

    client.awaitEnd();
  }

  @Test
  void shouldNotSendAnEmptyEvent() {
    StreamWriter writer = fixture.open("s");
    writer.append(LogTesting.numbered(1, 1));
    writer.append(List.of(LogTesting.last("")));

    TestConnection client = fixture.follow("s");
    client.awaitEnd();

    assertThat(client.data()).containsExactly("1");
    assertThat(log.retired).hasValue(1);
  }

  @Test
  void shouldMarkAStreamAsFullyDelivered() {
    fixture.open("s").append(LogFixture.complete(1, 2));
    fixture.open("undelivered").append(LogFixture.complete(1, 2));

    fixture.follow("s").awaitEnd();
    fixture.now.addAndGet(Duration.ofMinutes(3).toMillis());

    assertThat(log.retired).hasValue(1);
    assertThat(read("s")).isInstanceOf(ReadResult.NoSuchStream.class);
    assertThat(read("undelivered")).isInstanceOf(ReadResult.Events.class);
  }

  @Test
  void shouldNotMarkAStreamThatWasNotFullyDelivered() {
    fixture.open("s").append(LogFixture.complete(1, 2));
    TestConnection client = new TestConnection().stall();
    LogFixture.run(fixture.tail("s", Position.START, TailKind.REQUEST), client);
    client.awaitWrite();

    client.leave();
    client.awaitEnd();

    assertThat(client.data()).isEmpty();
    assertThat(log.retired).hasValue(0);
  }
}
