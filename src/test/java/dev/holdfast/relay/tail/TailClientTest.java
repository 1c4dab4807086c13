package dev.holdfast.relay.tail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.FaultyLog;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.Settings;
import dev.holdfast.relay.stream.EventId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that leave, stall, or whose store is away. */
@Timeout(30)
class TailClientTest {

  private final LogFixture desk = new LogFixture();
  private final FaultyLog log = new FaultyLog(desk.log);

  TailClientTest() {
    desk.log = log;
  }

  @Test
  void shouldStopWhenTheClientLeavesWhileItWaits() {
    desk.open("s");
    TestConnection client = desk.follow("s");
    client.await(c -> !c.text().isEmpty());

    client.leave();

    client.awaitEnd();
    await().until(() -> desk.heard.connections.get() == 0);
  }

  @Test
  void shouldStopWhenTheClientLeavesDuringAWrite() {
    StreamWriter writer = desk.open("s");
    TestConnection client = desk.follow("s");
    client.await(c -> !c.text().isEmpty());
    client.stall();
    client.awaitWrite();
    writer.append(LogTesting.numbered(1, 1));
    client.awaitWrite();

    client.leave();

    client.awaitEnd();
    assertThat(client.data()).isEmpty();
  }

  @Test
  void shouldStopWhenTheClientHasLeftBefore() {
    desk.open("s");
    TestConnection client = new TestConnection();
    client.leave();

    desk.tail("s", Position.START, Tail.Kind.REQUEST).run(client);

    assertThat(client.hasEnded()).isTrue();
    assertThat(desk.heard.connections).hasValue(0);
  }

  @Test
  void shouldNotLetASlowClientHoldUpOthers() {
    StreamWriter slow = desk.open("slow");
    StreamWriter quick = desk.open("quick");
    TestConnection stuck = new TestConnection().stall();
    LogFixture.run(desk.tail("slow", Position.START, Tail.Kind.REQUEST), stuck);
    stuck.awaitWrite();
    TestConnection client = desk.follow("quick");

    slow.append(LogTesting.numbered(1, 2000));
    quick.append(LogFixture.complete(1, 2000));
    client.awaitEnd();

    assertThat(client.data()).isEqualTo(LogFixture.numbers(1, 2000));
    assertThat(stuck.text()).isEmpty();

    slow.append(LogFixture.complete(2001, 2001));
    stuck.read();
    stuck.awaitEnd();
    assertThat(stuck.data()).isEqualTo(LogFixture.numbers(1, 2001));
  }

  /** Without the opening frame the client had no id, so it could not resume its call. */
  @Test
  void shouldGiveAPlaceToResumeFromEvenWhenTheStoreIsAway() {
    desk.open("s");
    log.reads.set(0);

    TestConnection client = desk.follow("s");
    client.awaitEnd();

    assertThat(client.text()).isEqualTo("id: s_0-0\nretry: 5000\ndata: \n\nretry: 5000\n\n");
  }

  @Test
  void shouldGiveAPlaceToResumeFromEvenWhenTheStreamCannotBeWatched() {
    desk.open("s");
    log.away = true;

    TestConnection client = desk.follow("s");
    client.awaitEnd();

    assertThat(client.text()).startsWith("id: s_0-0\n");
  }

  /** There is no better place for its client: here it hears of what the store does not take. */
  @Test
  void shouldStayWhereItsStreamIsWrittenHoweverLongTheStoreIsAway() {
    log.writtenHere = true;
    desk.streams = Settings.streams().keepAlive(Duration.ofMillis(100));
    desk.open("s").append(LogFixture.complete(1, 1));
    log.reads.set(0);
    long start = System.nanoTime();
    TestConnection client = desk.follow("s");

    await().until(() -> System.nanoTime() - start > Duration.ofSeconds(6).toNanos());
    assertThat(client.hasEnded()).isFalse();
    assertThat(client.text()).endsWith(": \n\n: \n\n");
    log.reads.set(Integer.MAX_VALUE);
    client.awaitEnd();

    assertThat(client.data()).containsExactly("1");
  }

  @Test
  void shouldResumeAfterTheStoreWasAway() {
    desk.open("s").append(LogFixture.complete(1, 1200));
    log.reads.set(2);
    TestConnection cut = desk.follow("s");
    cut.awaitEnd();
    log.reads.set(Integer.MAX_VALUE);

    List<TestConnection.Event> before = cut.events();
    EventId last = EventId.parse(before.getLast().id()).orElseThrow();
    TestConnection again = desk.follow("s", last.position(), Tail.Kind.RESUMED);
    again.awaitEnd();

    int sent = PageReader.FIRST_PAGE + 500;
    assertThat(cut.data()).isEqualTo(LogFixture.numbers(1, sent));
    assertThat(again.data()).isEqualTo(LogFixture.numbers(sent + 1, 1200));
  }

  @Test
  void shouldEndTheConnectionWhenSomethingUnforeseenHappens() {
    desk.open("s");
    log.afterRead =
        () -> {
          throw new IllegalStateException("a bug");
        };

    TestConnection client = new TestConnection();
    desk.tail("s", Position.START, Tail.Kind.REQUEST).run(client);

    assertThat(client.hasEnded()).isTrue();
    assertThat(desk.heard.connections).hasValue(0);
  }
}
