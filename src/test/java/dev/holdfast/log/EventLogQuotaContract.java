package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.openAndLeave;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogTesting.CountingWatcher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What gives way when a session has too many bytes. */
public interface EventLogQuotaContract extends EventLogFixture {

  Duration HOUR = Duration.ofHours(1);
  int EVENT = 10_000;
  long MOST = 400_000;

  Retention LIMITED = new Retention(HOUR, HOUR, 100_000, MOST, HOUR, MOST, 10);

  private EventLog limited() {
    return begun(LIMITED);
  }

  private StreamRef stream(String name) {
    return new StreamRef(ref().key(), name);
  }

  /** Writes events in batches of one. Returns their positions. */
  private static List<Position> write(StreamWriter writer, int count, boolean complete) {
    List<Position> positions = new ArrayList<>();
    for (int n = 1; n <= count; n++) {
      boolean last = complete && n == count;
      positions.add(writer.append(List.of(new NewEvent(new byte[EVENT], null, last))));
    }
    return positions;
  }

  @Test
  default void shouldPurgeDeliveredStreamsFirst() {
    EventLog log = limited();
    StreamWriter waiting = log.openUnfollowed(stream("waiting"), null);
    write(waiting, 8, false);
    StreamWriter undelivered = log.open(stream("undelivered"), "1");
    write(undelivered, 8, true);
    StreamWriter done = log.open(stream("done"), "2");
    write(done, 8, true);
    StreamWriter kept = log.open(stream("kept"), "3");
    write(kept, 8, true);
    log.markFullyDelivered(done.stream(), false);
    log.markFullyDelivered(kept.stream(), true);

    write(log.open(stream("new"), "4"), 16, false);

    await()
        .untilAsserted(() -> {
          assertThat(log.read(done.stream(), Position.START, 1))
              .isNotInstanceOf(ReadResult.Events.class);
          assertThat(log.read(kept.stream(), Position.START, 1))
              .isNotInstanceOf(ReadResult.Events.class);
        });
    assertThat(readAll(log, undelivered.stream(), Position.START)).hasSize(8);
    assertThat(readAll(log, waiting.stream(), Position.START)).hasSize(8);
  }

  /** The stream of a connected client once lost its oldest events, which the client had not got. */
  @Test
  default void shouldKeepEventsThatAConnectedClientHasNotReceived() {
    EventLog log = limited();
    StreamWriter writer = log.open(ref(), "1");

    List<Position> positions = write(writer, 80, false);

    assertThat(readAll(log, ref(), Position.START)).hasSize(80);
    log.markDelivered(ref(), positions.get(49));
    write(writer, 10, false);
    await()
        .untilAsserted(() ->
            assertThat(log.read(ref(), positions.getFirst(), 1))
                .isInstanceOf(ReadResult.Gap.class));
    assertThat(readAll(log, ref(), positions.get(49))).hasSize(40);
  }

  @Test
  default void shouldPurgeDeliveredEventsBeforeOthers() {
    EventLog log = limited();
    StreamWriter undelivered = log.open(stream("undelivered"), "1");
    write(undelivered, 10, true);
    StreamWriter waiting = log.openUnfollowed(stream("waiting"), null);
    write(waiting, 5, false);
    StreamWriter followed = log.open(ref(), "2");
    List<Position> positions = write(followed, 20, false);
    log.markDelivered(ref(), positions.get(15));

    write(log.open(stream("new"), "3"), 10, false);

    await()
        .untilAsserted(() ->
            assertThat(log.read(ref(), positions.getFirst(), 1))
                .isInstanceOf(ReadResult.Gap.class));
    assertThat(readAll(log, ref(), positions.get(15))).hasSize(4);
    assertThat(readAll(log, undelivered.stream(), Position.START)).hasSize(10);
    assertThat(readAll(log, waiting.stream(), Position.START)).hasSize(5);
  }

  @Test
  default void shouldPurgeNotificationsBeforeResults() {
    EventLog log = limited();
    StreamWriter first = openAndLeave(log, stream("first"), "1");
    List<Position> ofFirst = write(first, 10, true);
    StreamWriter second = openAndLeave(log, stream("second"), "2");
    List<Position> ofSecond = write(second, 10, true);
    StreamWriter waiting = log.openUnfollowed(stream("waiting"), null);
    Position newest = write(waiting, 10, false).getLast();

    write(log.open(ref(), "3"), 30, false);

    await()
        .untilAsserted(() ->
            assertThat(log.read(second.stream(), Position.START, 1))
                .isInstanceOf(ReadResult.Gap.class));
    assertThat(lastOf(log, first.stream(), ofFirst)).isEqualTo(ofFirst.getLast());
    assertThat(lastOf(log, second.stream(), ofSecond)).isEqualTo(ofSecond.getLast());
    assertThat(log.read(waiting.stream(), newest, 1)).isEqualTo(new ReadResult.Events(List.of()));
    assertThat(readAll(log, ref(), Position.START)).hasSize(30);
  }

  /** A call that ended before its client had read everything once lost what was left. */
  @Test
  default void shouldKeepTheEndOfACallWhileItsClientReads() {
    EventLog log = limited();
    keepsTheEndOfACall(log, log);
  }

  /** The writer's replica once forgot readers of other replicas at the end of a call. */
  @Test
  default void shouldKeepTheEndOfACallWhileItsClientReadsElsewhere() {
    EventLog log = limited();
    keepsTheEndOfACall(log, elsewhere(log, LIMITED));
  }

  private void keepsTheEndOfACall(EventLog log, EventLog reader) {
    StreamWriter read = log.open(stream("read"), "1");
    EventLog.Watch watch = reader.watch(read.stream(), Position.START, new CountingWatcher());
    write(read, 30, true);
    fill(log, "1");
    assertThat(readAll(reader, read.stream(), Position.START)).hasSize(30);

    watch.leave(true);
    watch.close();

    fill(log, "2");
    awaitGap(log, read.stream());
  }

  /** The connection may break with the last write, after the watch has ended. */
  @Test
  default void shouldLetACallGoWhoseClientLeavesAtItsEnd() {
    EventLog log = limited();
    StreamWriter read = log.open(stream("read"), "1");
    EventLog.Watch watch =
        elsewhere(log, LIMITED).watch(read.stream(), Position.START, new CountingWatcher());
    write(read, 20, true);
    watch.close();

    watch.leave(true);
    watch.close();

    fill(log, "1");
    fill(log, "2");
    awaitGap(log, read.stream());
  }

  /** Fills the session beyond its quota. Returns when all has given way that may. */
  private void fill(EventLog log, String name) {
    StreamWriter other = openAndLeave(log, stream("other" + name), name);
    write(other, 20, true);
    StreamWriter large = log.open(stream("large" + name), name);
    write(large, 20, false);
    awaitGap(log, other.stream());
    write(large, 1, false);
  }

  /** A client that comes back may lack what an earlier connection seemed to take. */
  @Test
  default void shouldKeepADeliveredCallWhileItsClientReadsItAgain() {
    EventLog log = limited();
    EventLog reader = elsewhere(log, LIMITED);
    StreamWriter done = openAndLeave(log, stream("done"), "1");
    write(done, 20, true);
    log.markFullyDelivered(done.stream(), true);
    pass(Duration.ZERO);
    EventLog.Watch again = reader.watch(done.stream(), Position.START, new CountingWatcher());

    fill(log, "1");
    assertThat(readAll(reader, done.stream(), Position.START)).hasSize(20);

    again.close();
    reader.markFullyDelivered(done.stream(), false);
    fill(log, "2");
    await()
        .untilAsserted(() ->
            assertThat(log.read(done.stream(), Position.START, 1))
                .isNotInstanceOf(ReadResult.Events.class));
  }

  /** The end of an older connection may be noticed late. */
  @Test
  default void shouldKeepACallForANewerConnection() {
    EventLog log = limited();
    EventLog reader = elsewhere(log, LIMITED);
    StreamWriter read = log.open(stream("read"), "1");
    EventLog.Watch older = reader.watch(read.stream(), Position.START, new CountingWatcher());
    write(read, 20, true);
    EventLog.Watch newer = log.watch(read.stream(), Position.START, new CountingWatcher());
    older.leave(true);
    older.close();

    fill(log, "1");

    assertThat(readAll(log, read.stream(), Position.START)).hasSize(20);
    newer.close();
  }

  /** The quota of the stream once removed a large message that an answer followed at once. */
  @Test
  default void shouldKeepALargeMessageOfACompleteStreamWhileItsClientReads() {
    EventLog log = limited();
    keepsALargeMessage(log, log, stream("here"));
    keepsALargeMessage(log, elsewhere(log, LIMITED), stream("elsewhere"));
  }

  private void keepsALargeMessage(EventLog log, EventLog reader, StreamRef stream) {
    StreamWriter writer = log.open(stream, "1");
    EventLog.Watch watch = reader.watch(stream, Position.START, new CountingWatcher());
    Position large =
        writer.append(List.of(new NewEvent(new byte[(int) MOST + EVENT], null, false)));
    Position end = write(writer, 1, true).getLast();
    fill(log, stream.name());

    assertThat(readAll(reader, stream, Position.START))
        .extracting(LogEvent::position)
        .containsExactly(large, end);
    watch.leave(true);
    watch.close();
  }

  private static void awaitGap(EventLog log, StreamRef stream) {
    await()
        .untilAsserted(() ->
            assertThat(log.read(stream, Position.START, 1))
                .isNotInstanceOf(ReadResult.Events.class));
  }

  /** Reads the last event of a complete stream. */
  private static Position lastOf(EventLog log, StreamRef stream, List<Position> positions) {
    Position beforeLast = positions.get(positions.size() - 2);
    return events(log.read(stream, beforeLast, 10)).getFirst().position();
  }

  @Test
  default void shouldPurgeTheOldestResultsLast() {
    EventLog log = limited();
    List<StreamWriter> results = new ArrayList<>();
    for (int n = 1; n <= 10; n++) {
      results.add(openAndLeave(log, stream("r" + n), Integer.toString(n)));
      write(results.getLast(), 1, true);
    }

    // So few that not all results give way, however late the store hears of the bytes.
    write(log.open(ref(), "0"), 31, false);

    await()
        .untilAsserted(() ->
            assertThat(log.read(results.getFirst().stream(), Position.START, 1))
                .isInstanceOf(ReadResult.Gap.class));
    assertThat(events(log.read(results.getLast().stream(), Position.START, 1))).hasSize(1);
    assertThat(readAll(log, ref(), Position.START)).hasSize(31);
  }

  /** Nothing may prove that a client has received what was handed to its socket. */
  @Test
  default void shouldKeepADeliveredStreamUntilTheDeliveryIsProven() {
    Duration brief = Duration.ofMillis(300);
    EventLog log = begun(LogTesting.retention(HOUR, brief, 1000, HOUR, 10));
    StreamWriter proven = log.open(stream("proven"), "1");
    write(proven, 1, true);
    StreamWriter unproven = log.open(ref(), "2");
    write(unproven, 1, true);

    log.markFullyDelivered(ref(), true);
    log.markFullyDelivered(proven.stream(), false);
    pass(brief);

    awaitRemoval(log, proven.stream());
    assertThat(events(log.read(ref(), Position.START, 1))).hasSize(1);
    log.markFullyDelivered(ref(), false);
    pass(brief);
    awaitRemoval(log, ref());
  }

  private static void awaitRemoval(EventLog log, StreamRef stream) {
    await()
        .untilAsserted(() ->
            assertThat(log.read(stream, Position.START, 1))
                .isEqualTo(new ReadResult.NoSuchStream()));
  }
}
