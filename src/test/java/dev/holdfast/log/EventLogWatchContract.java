package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.event;
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
    log().watch(ref(), Position.START, watcher);
    log().watch(new StreamRef(ref().key(), "b"), Position.START, elsewhere);

    writer.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
    assertThat(elsewhere.wakes()).isZero();
    assertThat(watcher.evictions()).isZero();
  }

  @Test
  default void shouldTellLaterWatchersWhichRequestsAnOpenStreamAnswers() {
    StreamWriter writer = log().open(ref(), "1,\"two\"");
    log().watch(ref(), Position.START, new CountingWatcher());

    assertThat(log().watch(ref(), Position.START, new CountingWatcher()).requests())
        .isEqualTo("1,\"two\"");

    writer.append(List.of(last("result")));
    assertThat(log().watch(ref(), Position.START, new CountingWatcher()).requests()).isEmpty();
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
                Position.START,
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
    EventLog.Watch left = log().watch(ref(), Position.START, older);

    log().watch(ref(), Position.START, newer);
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

    log().watch(ref(), Position.START, gone).close();
    log().watch(ref(), Position.START, next);
    writer.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(next.wakes()).isPositive());
    assertThat(gone.evictions()).isZero();
    assertThat(gone.wakes()).isZero();
  }

  /** Each of many filtered tails on one stream hears of every event. */
  @Test
  default void shouldWakeAllWatchersThatShareAStream() {
    StreamWriter writer = log().open(ref(), "1");
    CountingWatcher one = new CountingWatcher();
    CountingWatcher two = new CountingWatcher();
    CountingWatcher elsewhere = new CountingWatcher();
    log().watchShared(ref(), one);
    log().watchShared(ref(), two);
    log().watchShared(new StreamRef(ref().key(), "b"), elsewhere);

    writer.append(numbered(1, 2));

    assertThat(one.wakes()).isPositive();
    assertThat(two.wakes()).isPositive();
    assertThat(elsewhere.wakes()).isZero();
    assertThat(one.evictions() + two.evictions()).isZero();
    assertThat(readAll(log(), ref(), Position.START)).hasSize(2);
  }

  /** A watcher that delivers the events itself must not hide them from readers beside it. */
  @Test
  default void shouldWakeThoseThatShareAStreamBesideAWatcherThatDelivers() {
    StreamWriter writer = log().open(ref(), "1");
    List<Position> delivered = new ArrayList<>();
    CountingWatcher beside = new CountingWatcher();
    log()
        .watch(
            ref(),
            Position.START,
            new EventLog.Watcher() {
              @Override
              public boolean deliver(Position before, List<LogEvent> events) {
                events.forEach(event -> delivered.add(event.position()));
                return true;
              }

              @Override
              public void wake() {}

              @Override
              public void evicted() {}
            });
    log().watchShared(ref(), beside);

    writer.append(numbered(1, 2));

    assertThat(delivered).hasSize(2);
    assertThat(beside.wakes()).isPositive();
  }

  @Test
  default void shouldNotCallAClosedSharedWatch() {
    StreamWriter writer = log().open(ref(), "1");
    CountingWatcher gone = new CountingWatcher();
    CountingWatcher stays = new CountingWatcher();
    EventLog.Watch left = log().watchShared(ref(), gone);
    log().watchShared(ref(), stays);

    left.close();
    left.close();
    writer.append(numbered(1, 1));

    assertThat(stays.wakes()).isPositive();
    assertThat(gone.wakes()).isZero();
  }

  @Test
  default void shouldWakeSharedWatchersAtTheEndOfTheirStreams() {
    log().open(ref(), "1");
    CountingWatcher one = new CountingWatcher();
    CountingWatcher two = new CountingWatcher();
    log().watchShared(ref(), one);
    log().watchShared(ref(), two);

    log().end(ref().key());

    assertThat(one.wakes()).isPositive();
    assertThat(two.wakes()).isPositive();
    assertThat(log().read(ref(), Position.START, 1)).isInstanceOf(ReadResult.NoSuchStream.class);
  }

  /** A call that needs input ends a request, and goes on: only the writer ends a stream. */
  @Test
  default void shouldKeepAStreamOpenAfterAResponse() {
    StreamWriter writer = log().open(ref(), "1");
    writer.append(List.of(event("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}")));
    writer.append(List.of(last("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}")));

    assertThat(readAll(log(), ref(), Position.START)).hasSize(2);
  }

  @Test
  default void shouldLetAWatcherReadEveryEventOnce() {
    StreamWriter writer = log().open(ref(), "1");
    log().watch(ref(), Position.START, new CountingWatcher());
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
