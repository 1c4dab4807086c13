package dev.holdfast.relay.tail;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.FaultyLog;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.stream.StreamNames;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TailEvictionTest {

  private static final String STANDALONE = StreamNames.STANDALONE;

  private final LogFixture fixture = new LogFixture();
  private final FaultyLog log = new FaultyLog(fixture.log);

  TailEvictionTest() {
    fixture.log = log;
  }

  @Test
  void shouldEvictTheOlderTail() {
    StreamWriter writer = fixture.open("s");
    writer.append(LogTesting.numbered(1, 2));
    TestConnection older = fixture.follow("s");
    older.await(c -> c.data().size() == 2);

    Position second = fixture.events("s").getLast().position();
    TestConnection newer = fixture.follow("s", second, TailKind.RESUMED);
    older.awaitEnd();
    writer.append(LogFixture.complete(3, 3));
    newer.awaitEnd();

    assertThat(older.data()).containsExactly("1", "2");
    assertThat(older.text()).endsWith("\n\nretry: 5000\n\n");
    assertThat(newer.data()).containsExactly("3");
  }

  @Test
  void shouldSlowDownClientsThatEvictEachOther() {
    fixture.open("s");
    TestConnection[] clients = new TestConnection[5];
    for (int i = 0; i < clients.length; i++) {
      clients[i] = fixture.follow("s");
      clients[i].await(c -> !c.text().isEmpty());
    }

    for (int i = 0; i < clients.length - 1; i++) {
      clients[i].awaitEnd();
      assertThat(clients[i].text()).endsWith("retry: " + (5000 << i) + "\n\n");
    }
  }

  /** On a busy stream a tail never waits, so it must also notice between two pages. */
  @Test
  void shouldEndOnABusyStreamWithARetry() {
    fixture.open("s").append(LogFixture.complete(1, 2000));
    TestConnection older = new TestConnection().stall();
    LogFixture.run(fixture.tail("s", Position.START, TailKind.REQUEST), older);
    older.awaitWrite();

    TestConnection newer = fixture.follow("s");
    newer.awaitEnd();
    older.read();
    older.awaitEnd();

    assertThat(newer.data()).isEqualTo(LogFixture.numbers(1, 2000));
    assertThat(older.data()).isEqualTo(LogFixture.numbers(1, EventLog.PAGE_EVENTS));
    assertThat(older.text()).endsWith("\n\nretry: 5000\n\n");
  }

  /** Events that were read but not written belong to the newer tail. */
  @Test
  void shouldNotDeliverAPageThatWasReadBeforeTheEviction() {
    fixture.open("s").append(LogFixture.complete(1, 3));
    TestConnection newer = new TestConnection();
    log.afterRead =
        () -> {
          log.afterRead = () -> {};
          fixture.tail("s", Position.START, TailKind.REQUEST).run(newer);
        };

    TestConnection older = fixture.follow("s");
    older.awaitEnd();

    assertThat(older.data()).isEmpty();
    assertThat(newer.data()).isEqualTo(LogFixture.numbers(1, 3));
  }

  @Test
  void shouldStartANewListenerAtTheFirstUndeliveredEvent() {
    StreamWriter writer = fixture.open(STANDALONE);
    writer.append(LogTesting.numbered(1, 3));
    TestConnection first = fixture.follow(STANDALONE, Position.START, TailKind.STANDALONE);
    first.await(c -> c.data().size() == 3);
    first.leave();
    first.awaitEnd();
    writer.append(LogTesting.numbered(4, 5));

    Position delivered = log.deliveredUpTo(LogFixture.ref(STANDALONE));
    TestConnection second = fixture.follow(STANDALONE, delivered, TailKind.STANDALONE);
    second.await(c -> c.data().size() == 2);

    assertThat(delivered.number()).isEqualTo(3);
    assertThat(second.data()).containsExactly("4", "5");
  }

  @Test
  void shouldNotMarkEventsThatTheClientDidNotTake() {
    fixture.open(STANDALONE).append(LogTesting.numbered(1, 3));
    TestConnection client = new TestConnection().stall();
    LogFixture.run(fixture.tail(STANDALONE, Position.START, TailKind.STANDALONE), client);
    client.awaitWrite();

    client.leave();
    client.awaitEnd();

    assertThat(log.deliveredUpTo(LogFixture.ref(STANDALONE))).isEqualTo(Position.START);
  }

  /**
   * The position is read when the client connects, and the older tail continues until this one
   * evicts it. Events that it delivers in between must not come again.
   */
  @Test
  void shouldNotRepeatTheLastEventsOfTheEvictedTail() {
    StreamWriter writer = fixture.open(STANDALONE);
    TestConnection older = fixture.follow(STANDALONE, Position.START, TailKind.STANDALONE);
    Tail asked = fixture.tail(STANDALONE, Position.START, TailKind.STANDALONE);
    writer.append(LogTesting.numbered(1, 2));
    older.await(_ -> log.deliveredUpTo(LogFixture.ref(STANDALONE)).number() == 2);

    TestConnection newer = LogFixture.run(asked, new TestConnection());
    older.awaitEnd();
    writer.append(LogTesting.numbered(3, 3));
    newer.await(c -> !c.data().isEmpty());

    assertThat(newer.data()).containsExactly("3");
  }

  @Test
  void shouldReplayEverythingForAnUnreadableCursor() {
    fixture.open(STANDALONE).append(LogTesting.numbered(1, 2));
    TestConnection first = fixture.follow(STANDALONE, Position.START, TailKind.STANDALONE);
    first.await(c -> c.data().size() == 2);

    TestConnection again = fixture.follow(STANDALONE, Position.START, TailKind.FROM_START);
    again.await(c -> c.data().size() == 2);

    assertThat(again.data()).containsExactly("1", "2");
  }
}
