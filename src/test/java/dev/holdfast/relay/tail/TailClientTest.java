package dev.holdfast.relay.tail;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.BOOLEAN;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.FaultyLog;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.Settings;
import dev.holdfast.relay.stream.EventId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that leave, stall, or whose store is away. */
@Timeout(30)
class TailClientTest {

  private final LogFixture fixture = new LogFixture();
  private final FaultyLog log = new FaultyLog(fixture.log);

  TailClientTest() {
    fixture.log = log;
  }

  @Test
  void shouldStopWhenTheClientLeavesWhileItWaits() {
    fixture.open("s");
    TestConnection client = fixture.follow("s");
    client.await(c -> !c.text().isEmpty());

    client.leave();

    client.awaitEnd();
    await().until(() -> fixture.heard.connections.get() == 0);
  }

  @Test
  void shouldDeliverOnTheThreadOfTheWriterWhileTheTailWaits() {
    StreamWriter writer = fixture.open("s");
    TestConnection client = fixture.follow("s");
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    client.onWrite = () -> threads.add(Thread.currentThread());
    AtomicInteger last = new AtomicInteger();

    await()
        .pollInSameThread()
        .until(() -> {
          int next = last.incrementAndGet();
          writer.append(LogTesting.numbered(next, next));
          return threads.contains(Thread.currentThread());
        });

    writer.append(LogFixture.complete(last.get() + 1, last.get() + 2));
    client.awaitEnd();
    assertThat(client.data()).isEqualTo(LogFixture.numbers(1, last.get() + 2));
  }

  /** A response that ends with the id of a task, with which its client asks for the result. */
  private static final class HandingOver implements Translation {

    private boolean isHandedOver;

    @Override
    public byte[] translate(Position position, byte[] message) {
      return message;
    }

    @Override
    public Duration untilPause() {
      return Duration.ZERO;
    }

    @Override
    public byte[] pause(Position cursor) {
      isHandedOver = true;
      return "{}".getBytes(UTF_8);
    }

    @Override
    public boolean isHandedOver() {
      return isHandedOver;
    }
  }

  private CompletableFuture<Boolean> handOver(TestConnection client) {
    CompletableFuture<Boolean> delivered = new CompletableFuture<>();
    fixture.open("s");
    Tail tail =
        fixture
            .tail("s", Position.START, TailKind.REQUEST)
            .translated(new HandingOver(), null)
            .reporting(
                new Receipt() {
                  @Override
                  public void delivered() {
                    delivered.complete(true);
                  }

                  @Override
                  public void left() {
                    delivered.complete(false);
                  }
                });
    LogFixture.run(tail, client);
    return delivered;
  }

  @Test
  void shouldSayThatAClientHasItsTask() {
    assertThat(handOver(new TestConnection()))
        .succeedsWithin(Duration.ofSeconds(20), BOOLEAN)
        .isTrue();
  }

  @Test
  void shouldNotTakeATaskForDeliveredThatAClientDidNotGet() {
    TestConnection client = new TestConnection().stall().loseEnd();

    CompletableFuture<Boolean> delivered = handOver(client);
    client.awaitWrite();
    client.leave();

    assertThat(delivered).succeedsWithin(Duration.ofSeconds(20), BOOLEAN).isFalse();
  }

  /** The bytes of a write that nobody awaits are still counted against the write timeout. */
  @Test
  void shouldResetAClientThatDoesNotTakeWhatTheWriterDelivered() {
    fixture.streams = Settings.streams(Map.of("write-timeout", Duration.ofMillis(50)));
    StreamWriter writer = fixture.open("s");
    TestConnection client = fixture.follow("s");
    client.await(c -> !c.text().isEmpty());
    client.stall();

    writer.append(LogTesting.numbered(1, 1));
    writer.append(LogTesting.numbered(2, 2));

    client.awaitEnd();
    assertThat(client.wasAborted()).isTrue();
    assertThat(client.data()).isEmpty();
  }

  @Test
  void shouldStopWhenTheClientLeavesDuringAWrite() {
    StreamWriter writer = fixture.open("s");
    TestConnection client = fixture.follow("s");
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
    fixture.open("s");
    TestConnection client = new TestConnection();
    client.leave();

    fixture.tail("s", Position.START, TailKind.REQUEST).run(client);

    assertThat(client.hasEnded()).isTrue();
    assertThat(fixture.heard.connections).hasValue(0);
  }

  @Test
  void shouldNotDelayOthersForASlowClient() {
    StreamWriter slow = fixture.open("slow");
    StreamWriter quick = fixture.open("quick");
    TestConnection stuck = new TestConnection().stall();
    LogFixture.run(fixture.tail("slow", Position.START, TailKind.REQUEST), stuck);
    stuck.awaitWrite();
    TestConnection client = fixture.follow("quick");

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

  /** Without the opening frame the client has no id and cannot resume its call. */
  @Test
  void shouldSendAPrimingEventWhenTheStoreIsAway() {
    fixture.open("s");
    log.reads.set(0);

    TestConnection client = fixture.follow("s");
    client.awaitEnd();

    assertThat(client.text()).isEqualTo("id: s_0-0\nretry: 5000\ndata: \n\nretry: 5000\n\n");
  }

  @Test
  void shouldSendAPrimingEventWhenTheStreamCannotBeWatched() {
    fixture.open("s");
    log.away = true;

    TestConnection client = fixture.follow("s");
    client.awaitEnd();

    assertThat(client.text()).startsWith("id: s_0-0\n");
  }

  /** This replica serves its client best: it delivers events that the store does not take. */
  @Test
  void shouldStayOnTheOwnerDuringALongOutage() {
    log.writtenHere = true;
    fixture.streams = Settings.streams(Map.of("keep-alive", Duration.ofMillis(100)));
    fixture.open("s").append(LogFixture.complete(1, 1));
    log.reads.set(0);
    long start = System.nanoTime();
    TestConnection client = fixture.follow("s");

    await().until(() -> System.nanoTime() - start > Duration.ofSeconds(6).toNanos());
    assertThat(client.hasEnded()).isFalse();
    assertThat(client.text()).endsWith(": \n\n: \n\n");
    log.reads.set(Integer.MAX_VALUE);
    client.awaitEnd();

    assertThat(client.data()).containsExactly("1");
  }

  @Test
  void shouldResumeAfterTheStoreWasAway() {
    fixture.open("s").append(LogFixture.complete(1, 1200));
    log.reads.set(2);
    TestConnection cut = fixture.follow("s");
    cut.awaitEnd();
    log.reads.set(Integer.MAX_VALUE);

    List<TestConnection.Event> before = cut.events();
    EventId last = EventId.parse(before.getLast().id()).orElseThrow();
    TestConnection again = fixture.follow("s", last.position(), TailKind.RESUMED);
    again.awaitEnd();

    int sent = 2 * EventLog.PAGE_EVENTS;
    assertThat(cut.data()).isEqualTo(LogFixture.numbers(1, sent));
    assertThat(again.data()).isEqualTo(LogFixture.numbers(sent + 1, 1200));
  }

  @Test
  void shouldEndTheConnectionAfterAnUnexpectedFailure() {
    fixture.open("s");
    log.afterRead =
        () -> {
          throw new IllegalStateException("a bug");
        };

    TestConnection client = new TestConnection();
    fixture.tail("s", Position.START, TailKind.REQUEST).run(client);

    assertThat(client.hasEnded()).isTrue();
    assertThat(fixture.heard.connections).hasValue(0);
  }
}
