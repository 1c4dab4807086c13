package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.keeping;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.openAndLeave;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogTesting.CountingWatcher;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a connected reader has not received is kept, and its writer waits. */
interface FlowControlContract extends EventLogFixture {

  /** A part of the limit of 200 events. */
  int WINDOW = 50;

  private Thread waiting(StreamWriter writer) {
    return Thread.ofVirtual()
        .start(() -> {
          try {
            writer.awaitRoom(List.of(event("next")));
          } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
          }
        });
  }

  private static Position fill(StreamWriter writer) {
    writer.append(numbered(1, WINDOW - 1));
    assertThat(writer.hasRoom(List.of(event("next")))).isTrue();
    Position end = writer.append(numbered(WINDOW, WINDOW));
    assertThat(writer.hasRoom(List.of(event("next")))).isFalse();
    return end;
  }

  @Test
  default void shouldHoldBackTheWriterUntilItsReaderHasRead() throws Exception {
    EventLog small = begun(keeping(4 * WINDOW, 10));
    StreamWriter writer = small.open(ref(), "1");
    EventLog.Watch reader = small.watch(ref(), Position.START, new CountingWatcher());
    Position end = fill(writer);
    Thread waiting = waiting(writer);

    assertThat(waiting.join(Duration.ofMillis(50))).isFalse();
    reader.advanced(end, 100);

    waiting.join();
    assertThat(writer.hasRoom(List.of(event("next")))).isTrue();
  }

  @Test
  default void shouldHoldBackTheWriterByBytes() {
    StreamWriter writer = log().open(ref(), "1");
    EventLog.Watch reader = log().watch(ref(), Position.START, new CountingWatcher());
    List<NewEvent> large = List.of(new NewEvent(new byte[1 << 20], null, false));
    writer.append(large);
    assertThat(writer.hasRoom(large)).isTrue();
    Position second = writer.append(large);
    assertThat(writer.hasRoom(large)).isFalse();

    reader.advanced(second, 2 << 20);

    assertThat(writer.hasRoom(large)).isTrue();
  }

  /** The reader of a new stream comes soon after its first events. */
  @Test
  default void shouldHoldBackTheWriterBeforeItsReaderComes() {
    EventLog small = begun(keeping(4 * WINDOW, 10));
    StreamWriter writer = small.open(ref(), "1");

    Position end = fill(writer);

    small.watch(ref(), Position.START, new CountingWatcher()).advanced(end, 100);
    assertThat(writer.hasRoom(List.of(event("next")))).isTrue();
  }

  @Test
  default void shouldNotWaitForAReaderThatHasLeft() throws Exception {
    EventLog small = begun(keeping(4 * WINDOW, 10));
    StreamWriter writer = small.open(ref(), "1");
    EventLog.Watch reader = small.watch(ref(), Position.START, new CountingWatcher());
    fill(writer);
    Thread waiting = waiting(writer);

    reader.leave(true);
    reader.close();

    waiting.join();
    writer.append(numbered(WINDOW + 1, 6 * WINDOW));
    assertThat(writer.hasRoom(List.of(event("next")))).isTrue();
  }

  /** A replica that stops sends its clients to another one, and the server went on meanwhile. */
  @Test
  default void shouldWaitForAReaderThatReturns() throws Exception {
    EventLog small = begun(keeping(4 * WINDOW, 10));
    StreamWriter writer = small.open(ref(), "1");
    EventLog.Watch reader = small.watch(ref(), Position.START, new CountingWatcher());
    Position end = fill(writer);

    reader.leave(true);
    reader.close();
    boolean hadRoom = writer.hasRoom(List.of(event("next")));
    EventLog.Watch again = small.watch(ref(), Position.START, new CountingWatcher());
    Thread waiting = waiting(writer);

    assertThat(hadRoom).isFalse();
    // Longer than a reader is expected back.
    assertThat(waiting.join(Duration.ofMillis(2500))).isFalse();
    again.advanced(end, 100);
    waiting.join();
  }

  @Test
  default void shouldWaitForTheNewestReaderAlone() {
    EventLog small = begun(keeping(4 * WINDOW, 10));
    StreamWriter writer = small.open(ref(), "1");
    EventLog.Watch older = small.watch(ref(), Position.START, new CountingWatcher());
    Position end = fill(writer);
    EventLog.Watch newer = small.watch(ref(), Position.START, new CountingWatcher());

    older.advanced(end, 100);
    older.close();
    assertThat(writer.hasRoom(List.of(event("next")))).isFalse();

    newer.advanced(end, 100);
    assertThat(writer.hasRoom(List.of(event("next")))).isTrue();
  }

  @Test
  default void shouldNotWaitAfterItIsStopped() throws Exception {
    EventLog small = begun(keeping(4 * WINDOW, 10));
    StreamWriter writer = small.open(ref(), "1");
    small.watch(ref(), Position.START, new CountingWatcher());
    fill(writer);
    Thread waiting = waiting(writer);

    writer.stopWaiting();

    waiting.join();
    assertThat(writer.append(List.of(last("end"))).number()).isEqualTo(WINDOW + 1);
  }

  /** The limits once removed what was still to be delivered. */
  @Test
  default void shouldKeepWhatAConnectedReaderDoesNotHave() {
    EventLog small = begun(keeping(4 * WINDOW, 10));
    StreamWriter writer = small.open(ref(), "1");
    EventLog.Watch reader = small.watch(ref(), Position.START, new CountingWatcher());
    Position read = writer.append(numbered(1, 100));
    reader.advanced(read, 200);
    for (int n = 101; n <= 1000; n++) {
      writer.append(numbered(n, n));
    }

    assertThat(payloads(readAll(small, ref(), read))).hasSize(900).startsWith("101");
    reader.leave(true);
    reader.close();
    writer.append(numbered(1001, 2000));
    assertThat(small.read(ref(), read, 1)).isInstanceOf(ReadResult.Gap.class);
  }

  @Test
  default void shouldKeepTheSharedStreamForItsReader() {
    EventLog small = begun(keeping(4 * WINDOW, 10));
    StreamRef shared = new StreamRef(ref().key(), "m");
    small.openShared(shared);
    EventLog.Watch reader = small.watch(shared, Position.START, new CountingWatcher());
    StreamWriter one = small.open(ref(), "1", "m");
    StreamWriter two = small.open(new StreamRef(ref().key(), "b"), "2", "m");
    one.append(numbered(1, WINDOW / 2));
    two.append(numbered(1, WINDOW / 2));
    assertThat(one.hasRoom(List.of(event("next")))).isFalse();
    assertThat(two.hasRoom(List.of(event("next")))).isFalse();

    List<LogEvent> all = events(small.read(shared, Position.START, 100));
    reader.advanced(all.getLast().position(), 100);

    assertThat(all).hasSize(WINDOW);
    assertThat(one.hasRoom(List.of(event("next")))).isTrue();
    assertThat(two.hasRoom(List.of(event("next")))).isTrue();
  }

  @Test
  default void shouldKeepAStreamWhoseClientMayNotHaveItsEnd() {
    EventLog brief =
        begun(
            LogTesting.retention(
                Duration.ofHours(1), Duration.ofMillis(300), 1000, Duration.ofHours(1), 10));
    StreamRef brieflyKept = new StreamRef(ref().key(), "b");
    Position end = openAndLeave(brief, ref(), "1").append(List.of(last("1")));
    Position shortEnd = openAndLeave(brief, brieflyKept, "2").append(List.of(last("1")));

    brief.markFullyDelivered(ref(), true);
    brief.markFullyDelivered(brieflyKept, false);
    pass(Duration.ofMillis(300));

    await()
        .untilAsserted(() ->
            assertThat(brief.read(brieflyKept, shortEnd, 1))
                .isEqualTo(new ReadResult.NoSuchStream()));
    assertThat(brief.read(ref(), end, 1)).isEqualTo(new ReadResult.EndOfStream());
  }
}
