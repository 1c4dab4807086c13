package dev.holdfast.log.memory;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.keeping;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.openAndLeave;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.EventLogContract;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MemoryEventLogTest extends EventLogContract {

  private static final Duration LONG_ENOUGH = Duration.ofHours(1);

  private final AtomicLong now = new AtomicLong(1_000_000);
  private final InstantSource clock = () -> Instant.ofEpochMilli(now.get());
  private final List<EventLog> logs = new ArrayList<>();
  private long maxBytes = 1 << 30;
  private long maxClientBytes = Long.MAX_VALUE;

  @Override
  protected EventLog create(Retention retention) {
    EventLog created = new MemoryEventLog(retention, maxBytes, maxClientBytes, clock);
    logs.add(created);
    return created;
  }

  @Override
  public EventLog elsewhere(EventLog here, Retention retention) {
    return here;
  }

  @Override
  public void pass(Duration time) {
    now.addAndGet(time.toMillis());
    logs.forEach(EventLog::sweep);
  }

  @Override
  public StreamIndex index() {
    return (StreamIndex) log;
  }

  @Override
  public int trimmingStep() {
    return 0;
  }

  @Test
  void shouldNotGoBackInTime() {
    StreamWriter writer = log.open(ref, "1");
    Position first = writer.append(numbered(1, 1));

    now.addAndGet(-5000);
    Position second = writer.append(numbered(2, 2));

    assertThat(second.millis()).isEqualTo(first.millis());
  }

  @Test
  void shouldListOpenStreamsFirst() {
    MemoryEventLog listed = new MemoryEventLog(keeping(2, 10), maxBytes, maxClientBytes, clock);
    listed.begin(ref.key(), "");
    StreamRef other = new StreamRef(ref.key(), "b");
    StreamWriter complete = openAndLeave(listed, ref, "1");
    StreamWriter open = openAndLeave(listed, other, "2");
    complete.append(List.of(last("end")));
    now.addAndGet(1000);
    Position end = open.append(numbered(1, 3));

    StreamIndex.Page page = listed.list(ref.key(), 0, 1);
    assertThat(page.more()).isTrue();
    assertThat(page.streams().getFirst().open()).isTrue();
    assertThat(page.streams().getFirst().first().number()).isEqualTo(2);
    assertThat(page.streams().getFirst().last()).isEqualTo(end);
    StreamIndex.Page rest = listed.list(ref.key(), 1, 1);
    assertThat(rest.more()).isFalse();
    assertThat(rest.streams().getFirst().stream()).isEqualTo(ref);
    assertThat(rest.streams().getFirst().open()).isFalse();
    assertThat(listed.list(new LogKey("none"), 0, 1).streams()).isEmpty();
  }

  @Test
  void shouldPurgeOnlyWhatIsOld() {
    EventLog brief =
        begun(
            LogTesting.retention(
                Duration.ofSeconds(10), Duration.ofSeconds(1), 10, LONG_ENOUGH, 10));
    StreamWriter writer = brief.open(ref, "1");
    writer.append(numbered(1, 1));
    pass(Duration.ofSeconds(6));
    writer.append(numbered(2, 2));

    pass(Duration.ofSeconds(6));

    List<LogEvent> kept = readAll(brief, ref, brief.beforeOldest(ref).orElseThrow());
    assertThat(payloads(kept)).containsExactly("2");
  }

  @Test
  void shouldPurgeTheOldestOfAllStreamsBeyondTheBudget() {
    maxBytes = bytes(4, 2);
    EventLog small = begun(keeping(100, 10));
    StreamRef other = new StreamRef(ref.key(), "b");
    StreamWriter one = openAndLeave(small, ref, "1");
    StreamWriter two = openAndLeave(small, other, "2");
    one.append(numbered(1, 2));
    two.append(numbered(1, 2));

    two.append(numbered(3, 3));
    assertThat(small.read(ref, Position.START, 1)).isInstanceOf(ReadResult.Gap.class);
    assertThat(payloads(readAll(small, ref, small.beforeOldest(ref).orElseThrow())))
        .containsExactly("2");

    one.append(numbered(3, 4));
    assertThat(payloads(readAll(small, ref, small.beforeOldest(ref).orElseThrow())))
        .containsExactly("3", "4");
    assertThat(payloads(readAll(small, other, small.beforeOldest(other).orElseThrow())))
        .containsExactly("2", "3");
  }

  @Test
  void shouldFreeTheMemoryOfPurgedEvents() {
    maxBytes = bytes(5, 1);
    EventLog small = begun(keeping(100, 10));
    StreamWriter writer = openAndLeave(small, ref, "1");
    List<WeakReference<byte[]>> payloads = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      NewEvent event = event(Integer.toString(i % 10));
      payloads.add(new WeakReference<>(event.payload()));
      writer.append(List.of(event));
    }

    await()
        .untilAsserted(() -> {
          System.gc();
          assertThat(payloads).filteredOn(payload -> payload.get() != null).hasSize(5);
        });
    assertThat(payloads(readAll(small, ref, small.beforeOldest(ref).orElseThrow())))
        .containsExactly("6", "7", "8", "9", "0");
  }

  @Test
  void shouldGiveBackTheBudgetOfAnEndedSession() {
    maxBytes = bytes(4, 1);
    EventLog small = begun(keeping(100, 10));
    small.begin(new LogKey("other"), "");
    StreamRef other = new StreamRef(new LogKey("other"), "b");
    openAndLeave(small, other, "1").append(numbered(1, 4));

    small.end(new LogKey("other"));
    openAndLeave(small, ref, "1").append(numbered(1, 4));

    assertThat(payloads(readAll(small, ref, Position.START))).hasSize(4);
  }

  @Test
  void shouldForgetACompleteStreamWhoseEventsAreAllPurged() {
    maxBytes = bytes(2, 1);
    EventLog small = begun(keeping(100, 10));
    StreamRef other = new StreamRef(ref.key(), "b");
    Position end = openAndLeave(small, ref, "1").append(List.of(last("1")));

    openAndLeave(small, other, "2").append(numbered(1, 2));

    assertThat(small.read(ref, end, 1)).isEqualTo(new ReadResult.Gap(null));
  }

  /** A session with much more than its share once took the place of all others. */
  @Test
  void shouldNotPurgeTheEventsOfASessionThatNeedsLessThanOthers() {
    maxBytes = 100_000;
    EventLog small = begun(keeping(1_000_000, 10));
    Position first =
        openAndLeave(small, ref, "1").append(List.of(event("x".repeat(20_000)), event("2")));
    small.begin(new LogKey("greedy"), "");
    StreamWriter greedy = openAndLeave(small, new StreamRef(new LogKey("greedy"), "b"), "1");
    for (int n = 1; n <= 1000; n++) {
      greedy.append(List.of(event("x".repeat(12_000))));
    }

    assertThat(readAll(small, ref, Position.START)).hasSize(2);
    assertThat(small.depth().bytes().orElseThrow()).isLessThanOrEqualTo(maxBytes);
    assertThat(first.number()).isEqualTo(2);
  }

  @Test
  void shouldShareTheBudgetAmongSessionsThatNeedMuch() {
    maxBytes = 100_000;
    EventLog small = begun(keeping(1_000_000, 10));
    small.begin(new LogKey("other"), "");
    StreamWriter one = openAndLeave(small, ref, "1");
    StreamWriter two = openAndLeave(small, new StreamRef(new LogKey("other"), "b"), "1");
    for (int n = 1; n <= 100; n++) {
      one.append(List.of(event("x".repeat(1000))));
      two.append(List.of(event("x".repeat(1000))));
    }

    for (StreamRef each : List.of(one.stream(), two.stream())) {
      assertThat(readAll(small, each, small.beforeOldest(each).orElseThrow()))
          .hasSizeBetween(43, 45);
    }
  }

  private static StreamWriter opened(EventLog log, LogKey session, String client) {
    log.begin(session, client);
    return openAndLeave(log, new StreamRef(session, "b"), "1");
  }

  /** A client once took the place of others with many sessions, each smaller than theirs. */
  @Test
  void shouldNotPurgeTheEventsOfAClientThatNeedsLessThanOthers() {
    maxBytes = 100_000;
    EventLog small = create(keeping(1_000_000, 10));
    StreamWriter modest = opened(small, new LogKey("modest"), "bob");
    modest.append(List.of(event("x".repeat(20_000)), event("2")));
    for (int n = 1; n <= 100; n++) {
      opened(small, new LogKey("greedy" + n), "alice").append(List.of(event("x".repeat(5_000))));
    }

    assertThat(readAll(small, modest.stream(), Position.START)).hasSize(2);
    assertThat(small.depth().bytes().orElseThrow()).isBetween(90_000L, maxBytes);
  }

  @Test
  void shouldLimitTheBytesOfAClient() {
    maxClientBytes = 30_000;
    EventLog limited = create(keeping(1_000_000, 10));
    StreamWriter modest = opened(limited, new LogKey("modest"), "bob");
    modest.append(List.of(event("x".repeat(20_000)), event("2")));
    List<StreamRef> greedy = new ArrayList<>();
    for (int n = 1; n <= 10; n++) {
      StreamWriter writer = opened(limited, new LogKey("greedy" + n), "alice");
      writer.append(List.of(event("x".repeat(5_000))));
      greedy.add(writer.stream());
    }

    assertThat(readAll(limited, modest.stream(), Position.START)).hasSize(2);
    assertThat(limited.depth().bytes().orElseThrow()).isBetween(40_000L, 51_000L);
    assertThat(greedy)
        .filteredOn(stream -> limited.read(stream, Position.START, 1) instanceof ReadResult.Events)
        .hasSize(5);
  }

  /** The newest event of the writer stays, so others must give way even if they are smaller. */
  @Test
  void shouldKeepTheBudgetWhenEachSessionHasOneEvent() {
    maxBytes = 100_000;
    EventLog small = create(keeping(1_000_000, 10));
    for (int n = 1; n <= 50; n++) {
      StreamWriter writer = opened(small, new LogKey("s" + n), "");
      writer.append(List.of(event("x".repeat(10_000 + n))));

      assertThat(readAll(small, writer.stream(), Position.START)).hasSize(1);
      assertThat(small.depth().bytes().orElseThrow()).isLessThanOrEqualTo(maxBytes);
    }
  }

  /** Before, the largest client lost its result, however many others had left theirs. */
  @Test
  void shouldPurgeTheResultsOfConnectedClientsLast() {
    maxBytes = 8_000_000;
    EventLog small = create(keeping(1_000, 1_000));
    StreamWriter innocent = opened(small, new LogKey("innocent"), "innocent");
    innocent.append(List.of(last("x".repeat(200_000))));
    StreamRef followed = new StreamRef(new LogKey("innocent"), "g");
    StreamWriter _ = small.open(followed, "");
    EventLog.Watch watch = small.watch(followed, Position.START, new LogTesting.CountingWatcher());

    leaveResults(small, "a");
    assertThat(readAll(small, innocent.stream(), Position.START)).hasSize(1);

    watch.close();
    leaveResults(small, "b");
    assertThat(small.read(innocent.stream(), Position.START, 1)).isInstanceOf(ReadResult.Gap.class);
  }

  /** Each of 150 clients leaves without its result of 70 kB. */
  private static void leaveResults(EventLog log, String prefix) {
    for (int n = 0; n < 150; n++) {
      opened(log, new LogKey(prefix + n), prefix + n).append(List.of(last("x".repeat(70_000))));
    }
  }

  @Test
  void shouldSayHowMuchItHolds() {
    maxBytes = bytes(4, 1);
    EventLog small = begun(keeping(100, 10));
    assertThat(small.depth()).isEqualTo(size(0, 0));

    openAndLeave(small, ref, "1").append(numbered(1, 6));

    assertThat(small.depth()).isEqualTo(size(4, 1));
    small.end(ref.key());
    assertThat(small.depth()).isEqualTo(size(0, 0));
  }

  /** The bytes of events of one byte each. */
  private static long bytes(long events, long streams) {
    return events * (StoredEvent.OVERHEAD + 1) + streams * MemoryStream.STREAM_OVERHEAD;
  }

  private EventLog.Size size(long events, double quotaUsed) {
    long bytes = bytes(events, events == 0 ? 0 : 1);
    return new EventLog.Size(
        OptionalLong.of(events), OptionalLong.of(bytes), OptionalDouble.of(quotaUsed));
  }
}
