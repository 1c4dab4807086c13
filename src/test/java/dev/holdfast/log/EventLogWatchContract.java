package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogTesting.CountingWatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Watching streams and recording what was delivered. */
interface EventLogWatchContract extends EventLogFixture {

  @Test
  default void shouldWakeTheWatcher() {
    StreamWriter writer = log().open(ref(), "1");
    CountingWatcher watcher = new CountingWatcher();
    CountingWatcher elsewhere = new CountingWatcher();
    log().watch(ref(), watcher);
    log().watch(new StreamRef(ref().key(), "b"), elsewhere);

    writer.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
    assertThat(elsewhere.wakes()).isZero();
    assertThat(watcher.evictions()).isZero();
  }

  @Test
  default void shouldTellLaterWatchersWhichRequestsAnOpenStreamAnswers() {
    StreamWriter writer = log().open(ref(), "1,\"two\"");
    log().watch(ref(), new CountingWatcher());

    assertThat(log().watch(ref(), new CountingWatcher()).requests()).isEqualTo("1,\"two\"");

    writer.append(List.of(last("result")));
    assertThat(log().watch(ref(), new CountingWatcher()).requests()).isEmpty();
  }

  /** Write, then deliver: when a watcher gets events, the log has them. */
  @Test
  default void shouldLetAWatcherDeliverOnlyStoredEvents() {
    StreamWriter writer = log().open(ref(), "1");
    List<Position> delivered = new ArrayList<>();
    List<Position> stored = new ArrayList<>();
    AtomicReference<EventLog.Watch> watch = new AtomicReference<>();
    watch.set(
        log()
            .watch(
                ref(),
                new EventLog.Watcher() {
                  @Override
                  public boolean deliver(Position before, List<LogEvent> events) {
                    delivered.add(before);
                    watch
                        .get()
                        .close(); // Otherwise the log may read what it keeps for the watcher.
                    events.forEach(event -> delivered.add(event.position()));
                    readAll(log(), ref(), Position.START)
                        .forEach(event -> stored.add(event.position()));
                    return true;
                  }

                  @Override
                  public void wake() {}

                  @Override
                  public void evicted() {}
                }));

    writer.append(numbered(1, 3));

    assertThat(delivered).hasSize(4).startsWith(Position.START);
    assertThat(stored).isEqualTo(delivered.subList(1, 4));
  }

  @Test
  default void shouldEvictTheOlderWatcher() {
    StreamWriter writer = log().open(ref(), "1");
    CountingWatcher older = new CountingWatcher();
    CountingWatcher newer = new CountingWatcher();
    EventLog.Watch left = log().watch(ref(), older);

    log().watch(ref(), newer);
    left.close();
    int wakes = older.wakes();
    writer.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(newer.wakes()).isPositive());
    assertThat(older.evictions()).isEqualTo(1);
    assertThat(older.wakes()).isEqualTo(wakes);
    assertThat(newer.evictions()).isZero();
  }

  @Test
  default void shouldNotCallAClosedWatch() {
    StreamWriter writer = log().open(ref(), "1");
    CountingWatcher gone = new CountingWatcher();
    CountingWatcher next = new CountingWatcher();

    log().watch(ref(), gone).close();
    log().watch(ref(), next);
    writer.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(next.wakes()).isPositive());
    assertThat(gone.evictions()).isZero();
    assertThat(gone.wakes()).isZero();
  }

  @Test
  default void shouldLetAWatcherReadEveryEventOnce() {
    StreamWriter writer = log().open(ref(), "1");
    log().watch(ref(), new CountingWatcher());
    List<String> read = new ArrayList<>();
    Position cursor = Position.START;

    for (int n = 1; n <= 300; n++) {
      writer.append(numbered(n, n));
      if (n % 7 == 0) {
        List<LogEvent> page = events(log().read(ref(), cursor, 5));
        read.addAll(payloads(page));
        cursor = page.getLast().position();
      }
    }
    writer.append(List.of(last("301")));
    read.addAll(payloads(readAll(log(), ref(), cursor)));

    assertThat(read).hasSize(301).doesNotHaveDuplicates().startsWith("1").endsWith("301");
    assertThat(log().read(ref(), readAll(log(), ref(), Position.START).getLast().position(), 1))
        .isEqualTo(new ReadResult.EndOfStream());
  }

  @Test
  default void shouldRecordDeliveredPositions() {
    StreamWriter writer = log().open(ref(), "");
    Position first = writer.append(numbered(1, 1));
    Position third = writer.append(numbered(2, 3));

    assertThat(log().deliveredUpTo(ref())).isEqualTo(Position.START);
    log().markDelivered(ref(), first);
    log().markDelivered(ref(), third);

    await().untilAsserted(() -> assertThat(log().deliveredUpTo(ref())).isEqualTo(third));
  }
}
