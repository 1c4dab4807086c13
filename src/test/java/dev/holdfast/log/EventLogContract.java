package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogTesting.CountingWatcher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of {@link EventLog}. Every adapter's test extends it. */
public abstract class EventLogContract {

  private static final Duration LONG = Duration.ofHours(1);
  private static final Duration SHORT = Duration.ofMillis(300);

  /** A session that has begun, and a stream that has not been opened. */
  protected final StreamRef ref = new StreamRef("s" + UUID.randomUUID(), "a1");

  /** The log under test, with nothing that would expire. */
  protected EventLog log;

  private final List<EventLog> created = new ArrayList<>();

  /** Only the subclasses' framework creates them. */
  @SuppressWarnings("NullAway.Init")
  protected EventLogContract() {}

  /** Creates a log, which {@link #close()} will close. */
  protected abstract EventLog create(Retention retention);

  /** Lets time pass where it is simulated; elsewhere the tests wait for what they expect. */
  protected abstract void pass(Duration time);

  /** How many events beyond its maximum a stream may keep. */
  protected abstract int trimmingStep();

  /** The usual bounds, but for the most events and streams. */
  protected static Retention keeping(int maxEvents, int maxStreams) {
    return new Retention(LONG, LONG, maxEvents, LONG, maxStreams);
  }

  /** Creates a log that the test need not close, in which the session has begun. */
  protected final EventLog begun(Retention retention) {
    EventLog begun = create(retention);
    created.add(begun);
    begun.begin(ref.session());
    return begun;
  }

  @BeforeEach
  void begin() {
    log = begun(keeping(1_000_000, 1000));
  }

  @AfterEach
  void close() {
    created.forEach(EventLog::close);
  }

  @Test
  void shouldNumberEventsWithoutHoles() {
    StreamWriter writer = log.open(ref, "1");

    Position first = writer.append(numbered(1, 1));
    Position fourth = writer.append(numbered(2, 4));

    List<LogEvent> read = readAll(log, ref, Position.START);
    assertThat(payloads(read)).containsExactly("1", "2", "3", "4");
    assertThat(read).extracting(e -> e.position().number()).containsExactly(1L, 2L, 3L, 4L);
    assertThat(read.getFirst().position()).isEqualTo(first);
    assertThat(read.getLast().position()).isEqualTo(fourth);
    assertThat(read).extracting(e -> e.position().millis()).isSorted();
  }

  @Test
  void shouldKeepWhatAnEventCarries() {
    byte[] payload = new byte[256];
    IntStream.range(0, 256).forEach(i -> payload[i] = (byte) i);
    StreamWriter writer = log.open(ref, "\"x y\"");

    writer.append(List.of(new NewEvent(payload, "up/1 ä", false), event("")));
    writer.append(List.of(new NewEvent("z".getBytes(UTF_8), "up/2", true)));

    List<LogEvent> read = readAll(log, ref, Position.START);
    assertThat(read).hasSize(3);
    assertThat(read.get(0).payload()).isEqualTo(payload);
    assertThat(read).extracting(LogEvent::upstreamId).containsExactly("up/1 ä", null, "up/2");
    assertThat(read).extracting(LogEvent::last).containsExactly(false, false, true);
  }

  @Test
  void shouldReadInPages() {
    log.open(ref, "1").append(numbered(1, 25));

    List<String> first = payloads(log.read(ref, Position.START, 10));
    List<LogEvent> rest =
        readAll(log, ref, events(log.read(ref, Position.START, 10)).getLast().position());

    assertThat(first).hasSize(10).startsWith("1").endsWith("10");
    assertThat(payloads(rest)).hasSize(15).startsWith("11").endsWith("25");
    assertThat(payloads(log.read(ref, Position.START, Integer.MAX_VALUE))).hasSize(25);
  }

  @Test
  void shouldPassNothingToNobody() {
    StreamWriter writer = log.open(ref, "1");
    writer.append(numbered(1, 1));

    assertThat(writer.deliverUnlogged(numbered(2, 2))).isFalse();
    writer.recordSkipped();

    assertThat(writer.append(numbered(2, 2)).number()).isEqualTo(2);
    assertThat(readAll(log, ref, Position.START)).extracting(LogEvent::logged).containsOnly(true);
    assertThatIllegalArgumentException().isThrownBy(() -> writer.deliverUnlogged(List.of()));
  }

  @Test
  void shouldKnowWhatIsWrittenHere() {
    log.open(ref, "1");

    assertThat(log.isWrittenHere(ref)).isTrue();
    assertThat(log.isWrittenHere(new StreamRef(ref.session(), "other"))).isFalse();
    log.end(ref.session());
    assertThat(log.isWrittenHere(ref)).isFalse();
  }

  @Test
  void shouldRefuseAnEmptyPage() {
    assertThatIllegalArgumentException().isThrownBy(() -> log.read(ref, Position.START, 0));
  }

  @Test
  void shouldFindNothingAtTheHeadOfAnOpenStream() {
    StreamWriter writer = log.open(ref, "1");

    assertThat(events(log.read(ref, Position.START, 10))).isEmpty();

    Position head = writer.append(numbered(1, 3));

    assertThat(events(log.read(ref, head, 10))).isEmpty();
    assertThat(log.beforeOldest(ref)).isPresent();
  }

  @Test
  void shouldSayThatACompleteStreamHasEnded() {
    StreamWriter writer = log.open(ref, "1");
    writer.append(numbered(1, 2));

    Position end = writer.append(List.of(last("3")));

    assertThat(log.read(ref, end, 10)).isEqualTo(new ReadResult.EndOfStream());
    assertThat(payloads(readAll(log, ref, Position.START))).containsExactly("1", "2", "3");
  }

  @Test
  void shouldNotKnowOtherStreamsAndSessions() {
    log.open(ref, "1").append(numbered(1, 1));

    StreamRef otherStream = new StreamRef(ref.session(), "b");
    StreamRef otherSession = new StreamRef("t" + UUID.randomUUID(), ref.name());
    assertThat(log.read(otherStream, Position.START, 10)).isEqualTo(new ReadResult.NoSuchStream());
    assertThat(log.read(otherSession, Position.START, 10)).isEqualTo(new ReadResult.NoSuchStream());
    assertThat(log.beforeOldest(otherStream)).isEmpty();
    assertThat(log.deliveredUpTo(otherSession)).isEqualTo(Position.START);
  }

  @Test
  void shouldReportACursorAheadOfTheLog() {
    Position head = log.open(ref, "1").append(numbered(1, 3));
    Position oldest = events(log.read(ref, Position.START, 1)).getFirst().position();

    ReadResult ahead = log.read(ref, new Position(head.millis(), 4), 10);
    ReadResult farAhead = log.read(ref, new Position(head.millis() + 60_000, 400), 10);

    assertThat(ahead).isEqualTo(new ReadResult.Gap(oldest));
    assertThat(farAhead).isEqualTo(new ReadResult.Gap(oldest));
  }

  @Test
  void shouldReportACursorAheadOfACompleteStream() {
    Position end = log.open(ref, "1").append(List.of(event("1"), last("2")));

    assertThat(log.read(ref, new Position(end.millis(), 3), 10)).isInstanceOf(ReadResult.Gap.class);
  }

  /** A store that lost writes may number new events as it numbered the lost ones. */
  @Test
  void shouldReportACursorOfAnotherTimeThanItsEvent() {
    Position head = log.open(ref, "1").append(numbered(1, 3));

    for (long number = 1; number <= 3; number++) {
      for (long drift : new long[] {-5000, -1, 1, 5000}) {
        assertThat(log.read(ref, new Position(head.millis() + drift, number), 10))
            .as("%d, %d ms off", number, drift)
            .isInstanceOf(ReadResult.Gap.class);
      }
    }
  }

  @Test
  void shouldReportWhatWasPurgedByCount() {
    EventLog small = begun(keeping(150, 10));
    StreamWriter writer = small.open(ref, "1");
    List<Position> positions = new ArrayList<>();
    for (int n = 1; n <= 1000; n++) {
      positions.add(writer.append(numbered(n, n)));
    }

    Position before = small.beforeOldest(ref).orElseThrow();
    List<LogEvent> kept = readAll(small, ref, before);
    int first = (int) kept.getFirst().position().number();

    assertThat(before.number()).isEqualTo(first - 1);
    assertThat(kept).hasSize(1000 - first + 1).hasSizeBetween(150, 150 + trimmingStep());
    Position oldest = positions.get(first - 1);
    Position lastPurged = positions.get(first - 2);
    Position beforeLastPurged = positions.get(first - 3);
    assertThat(payloads(small.read(ref, oldest, 1))).containsExactly(Integer.toString(first + 1));
    assertThat(payloads(small.read(ref, lastPurged, 1))).containsExactly(Integer.toString(first));
    assertThat(small.read(ref, beforeLastPurged, 1)).isEqualTo(new ReadResult.Gap(oldest));
    ReadResult.Gap gap = new ReadResult.Gap(oldest);
    assertThat(small.read(ref, Position.START, 1)).isEqualTo(gap);
    assertThat(payloads(small.read(ref, gap.resumeAfter().orElseThrow(), 1)))
        .containsExactly(Integer.toString(first));
  }

  @Test
  void shouldPurgeAnIdleOpenStreamByAge() {
    EventLog brief = begun(new Retention(SHORT, SHORT, 1000, LONG, 10));
    StreamWriter writer = brief.open(ref, "");
    Position first = writer.append(numbered(1, 1));
    Position head = writer.append(numbered(2, 3));

    pass(SHORT);

    await()
        .untilAsserted(() ->
            assertThat(brief.read(ref, Position.START, 1))
                .isEqualTo(new ReadResult.Gap(null, head)));
    assertThat(brief.read(ref, first, 1)).isEqualTo(new ReadResult.Gap(null, head));
    assertThat(events(brief.read(ref, head, 1))).isEmpty();
    assertThat(brief.beforeOldest(ref)).contains(head);
    Position next = writer.append(numbered(4, 4));
    assertThat(next.number()).isEqualTo(4);
    assertThat(payloads(brief.read(ref, head, 10))).containsExactly("4");
    assertThat(brief.read(ref, first, 10)).isEqualTo(new ReadResult.Gap(next));
  }

  @Test
  void shouldForgetACompleteStreamOfOldAge() {
    EventLog brief = begun(new Retention(SHORT, LONG, 1000, LONG, 10));
    Position end = brief.open(ref, "1").append(List.of(event("1"), last("2")));

    pass(SHORT);

    await()
        .untilAsserted(
            () -> assertThat(brief.read(ref, end, 1)).isEqualTo(new ReadResult.NoSuchStream()));
    assertThat(brief.read(ref, Position.START, 1)).isEqualTo(new ReadResult.NoSuchStream());
  }

  @Test
  void shouldKeepARetiredStreamOnlyAShortWhile() {
    EventLog brief = begun(new Retention(LONG, SHORT, 1000, LONG, 10));
    StreamRef stays = new StreamRef(ref.session(), "b");
    Position end = brief.open(ref, "1").append(List.of(last("1")));
    Position otherEnd = brief.open(stays, "2").append(List.of(last("1")));

    brief.markFullyDelivered(ref);
    pass(SHORT);

    await()
        .untilAsserted(
            () -> assertThat(brief.read(ref, end, 1)).isEqualTo(new ReadResult.NoSuchStream()));
    assertThat(brief.read(stays, otherEnd, 1)).isEqualTo(new ReadResult.EndOfStream());
  }

  @Test
  void shouldNotRetireAnOpenStream() {
    EventLog brief = begun(new Retention(LONG, SHORT, 1000, LONG, 10));
    StreamRef retired = new StreamRef(ref.session(), "b");
    StreamWriter writer = brief.open(ref, "1");
    Position head = writer.append(numbered(1, 1));
    Position end = brief.open(retired, "2").append(List.of(last("1")));

    brief.markFullyDelivered(ref);
    brief.markFullyDelivered(retired);
    pass(SHORT);

    await()
        .untilAsserted(
            () -> assertThat(brief.read(retired, end, 1)).isEqualTo(new ReadResult.NoSuchStream()));
    assertThat(payloads(brief.read(ref, Position.START, 1))).containsExactly("1");
    assertThat(writer.append(numbered(2, 2)).number()).isEqualTo(head.number() + 1);
  }

  @Test
  void shouldFenceTheWriterOfACompleteStream() {
    StreamWriter writer = log.open(ref, "1");
    Position end = writer.append(List.of(last("1")));

    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> writer.append(numbered(2, 2)));
    assertThat(log.read(ref, end, 10)).isEqualTo(new ReadResult.EndOfStream());
  }

  @Test
  void shouldRefuseEventsAfterTheLast() {
    StreamWriter writer = log.open(ref, "1");

    assertThatIllegalArgumentException()
        .isThrownBy(() -> writer.append(List.of(last("1"), event("2"))));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.append(List.of()));
    assertThat(events(log.read(ref, Position.START, 10))).isEmpty();
  }

  @Test
  void shouldForgetAnEndedSession() {
    StreamRef second = new StreamRef(ref.session(), "b");
    StreamWriter writer = log.open(ref, "1");
    Position end = log.open(second, "2").append(List.of(last("1")));
    writer.append(numbered(1, 3));
    CountingWatcher watcher = new CountingWatcher();
    log.watch(ref, watcher);

    log.end(ref.session());

    await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
    assertThat(log.read(ref, Position.START, 10)).isEqualTo(new ReadResult.NoSuchStream());
    assertThat(log.read(second, end, 10)).isEqualTo(new ReadResult.NoSuchStream());
    assertThat(log.beforeOldest(second)).isEmpty();
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> writer.append(numbered(4, 4)));
    assertThatExceptionOfType(SessionEndedException.class)
        .isThrownBy(() -> log.open(new StreamRef(ref.session(), "c"), "3"));
    assertThat(log.read(ref, Position.START, 10)).isEqualTo(new ReadResult.NoSuchStream());
  }

  @Test
  void shouldEndWhatIsUnknown() {
    log.end("nobody");

    assertThat(log.read(new StreamRef("nobody", "a"), Position.START, 1))
        .isEqualTo(new ReadResult.NoSuchStream());
  }

  @Test
  void shouldBeginTwice() {
    StreamWriter writer = log.open(ref, "1");

    log.begin(ref.session());

    assertThat(writer.append(numbered(1, 1)).number()).isEqualTo(1);
  }

  @Test
  void shouldNotResurrectASessionByTheWay() {
    StreamRef ended = new StreamRef("e" + UUID.randomUUID(), "a");

    log.markDelivered(ended, new Position(1, 1));
    log.markFullyDelivered(ended);
    log.watch(ended, new CountingWatcher()).close();

    assertThatExceptionOfType(SessionEndedException.class).isThrownBy(() -> log.open(ended, "1"));
  }

  @Test
  void shouldOpenAStreamOnlyOnce() {
    log.open(ref, "1");
    StreamRef done = new StreamRef(ref.session(), "b");
    log.open(done, "2").append(List.of(last("1")));

    assertThatExceptionOfType(FencedException.class).isThrownBy(() -> log.open(ref, "1"));
    assertThatExceptionOfType(FencedException.class).isThrownBy(() -> log.open(done, "2"));
  }

  @Test
  void shouldLimitOpenStreams() {
    EventLog limited = begun(keeping(100, 3));
    List<StreamWriter> writers =
        IntStream.range(0, 3)
            .mapToObj(i -> limited.open(new StreamRef(ref.session(), "s" + i), "1"))
            .toList();

    assertThatExceptionOfType(TooManyStreamsException.class)
        .isThrownBy(() -> limited.open(ref, "1"));

    writers.getFirst().append(List.of(last("1")));
    limited.open(ref, "1");
    assertThatExceptionOfType(TooManyStreamsException.class)
        .isThrownBy(() -> limited.open(new StreamRef(ref.session(), "c"), "1"));
  }

  @Test
  void shouldWakeTheWatcher() {
    StreamWriter writer = log.open(ref, "1");
    CountingWatcher watcher = new CountingWatcher();
    CountingWatcher elsewhere = new CountingWatcher();
    log.watch(ref, watcher);
    log.watch(new StreamRef(ref.session(), "b"), elsewhere);

    writer.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
    assertThat(elsewhere.wakes()).isZero();
    assertThat(watcher.evictions()).isZero();
  }

  @Test
  void shouldEvictTheOlderWatcher() {
    StreamWriter writer = log.open(ref, "1");
    CountingWatcher older = new CountingWatcher();
    CountingWatcher newer = new CountingWatcher();
    Watch left = log.watch(ref, older);

    log.watch(ref, newer);
    left.close();
    int wakes = older.wakes();
    writer.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(newer.wakes()).isPositive());
    assertThat(older.evictions()).isEqualTo(1);
    assertThat(older.wakes()).isEqualTo(wakes);
    assertThat(newer.evictions()).isZero();
  }

  @Test
  void shouldLeaveAWatcherAloneThatLeft() {
    StreamWriter writer = log.open(ref, "1");
    CountingWatcher gone = new CountingWatcher();
    CountingWatcher next = new CountingWatcher();

    log.watch(ref, gone).close();
    log.watch(ref, next);
    writer.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(next.wakes()).isPositive());
    assertThat(gone.evictions()).isZero();
    assertThat(gone.wakes()).isZero();
  }

  @Test
  void shouldGiveAWatcherEveryEventOnce() {
    StreamWriter writer = log.open(ref, "1");
    log.watch(ref, new CountingWatcher());
    List<String> read = new ArrayList<>();
    Position cursor = Position.START;

    for (int n = 1; n <= 300; n++) {
      writer.append(numbered(n, n));
      if (n % 7 == 0) {
        List<LogEvent> page = events(log.read(ref, cursor, 5));
        read.addAll(payloads(page));
        cursor = page.getLast().position();
      }
    }
    writer.append(List.of(last("301")));
    read.addAll(payloads(readAll(log, ref, cursor)));

    assertThat(read).hasSize(301).doesNotHaveDuplicates().startsWith("1").endsWith("301");
    assertThat(log.read(ref, readAll(log, ref, Position.START).getLast().position(), 1))
        .isEqualTo(new ReadResult.EndOfStream());
  }

  @Test
  void shouldRememberWhatWasDelivered() {
    StreamWriter writer = log.open(ref, "");
    Position first = writer.append(numbered(1, 1));
    Position third = writer.append(numbered(2, 3));

    assertThat(log.deliveredUpTo(ref)).isEqualTo(Position.START);
    log.markDelivered(ref, first);
    log.markDelivered(ref, third);

    await().untilAsserted(() -> assertThat(log.deliveredUpTo(ref)).isEqualTo(third));
  }

  @Test
  void shouldTakeFiftyWritersOnFiftyStreams() throws Exception {
    List<StreamRef> streams =
        IntStream.range(0, 50).mapToObj(i -> new StreamRef(ref.session(), "w" + i)).toList();
    List<StreamWriter> writers = streams.stream().map(s -> log.open(s, "1")).toList();

    inParallel(50, thread -> appendOneByOne(writers.get(thread), thread, 100));

    for (StreamRef stream : streams) {
      List<LogEvent> read = readAll(log, stream, Position.START);
      assertThat(read).hasSize(100);
      assertOrdered(read, 1);
    }
  }

  @Test
  void shouldTakeFiftyWritersOnOneStream() throws Exception {
    StreamWriter writer = log.open(ref, "1");

    inParallel(50, thread -> appendOneByOne(writer, thread, 100));

    List<LogEvent> read = readAll(log, ref, Position.START);
    assertThat(read).hasSize(5000);
    assertOrdered(read, 50);
    List<Long> numbers = read.stream().map(e -> e.position().number()).toList();
    assertThat(numbers).isEqualTo(IntStream.rangeClosed(1, 5000).mapToObj(Long::valueOf).toList());
    assertThat(read).extracting(e -> e.position().millis()).isSorted();
  }

  @Test
  void shouldReadWhileOthersWrite() throws Exception {
    StreamWriter writer = log.open(ref, "1");
    List<LogEvent> read = new ArrayList<>();

    inParallel(
        5,
        thread -> {
          if (thread < 4) {
            appendOneByOne(writer, thread, 500);
          } else {
            Position cursor = Position.START;
            while (read.size() < 2000) {
              List<LogEvent> page = events(log.read(ref, cursor, 50));
              read.addAll(page);
              cursor = page.isEmpty() ? cursor : page.getLast().position();
            }
          }
        });

    assertThat(read).hasSize(2000);
    assertOrdered(read, 4);
  }

  @Test
  void shouldShowSignsOfLife() {
    log.sweep();

    log.check();

    assertThat(log.beforeOldest(ref)).isEmpty();
  }

  private static void appendOneByOne(StreamWriter writer, int thread, int count) {
    long before = 0;
    for (int i = 0; i < count; i++) {
      long number = writer.append(List.of(event(thread + ":" + i))).number();
      assertThat(number).isGreaterThan(before);
      before = number;
    }
  }

  /** Each thread's events stand in the order in which it wrote them, each once. */
  private static void assertOrdered(List<LogEvent> read, int threads) {
    Map<String, Integer> next = new HashMap<>();
    for (String payload : payloads(read)) {
      String thread = payload.substring(0, payload.indexOf(':'));
      int expected = next.merge(thread, 1, Integer::sum) - 1;
      assertThat(payload).isEqualTo(thread + ":" + expected);
    }
    assertThat(next).hasSize(threads);
  }

  private interface Work {
    void run(int thread) throws Exception;
  }

  private static void inParallel(int threads, Work work) throws Exception {
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int thread = i;
        running.add(
            executor.submit(() -> {
              work.run(thread);
              return thread;
            }));
      }
      for (Future<?> future : running) {
        future.get();
      }
    }
  }

  private StreamRef shared() {
    StreamRef shared = new StreamRef(ref.session(), "m");
    log.openShared(shared);
    return shared;
  }

  private StreamWriter into(StreamRef shared, String name) {
    return log.open(new StreamRef(ref.session(), name), "1", shared.name());
  }

  @Test
  void shouldKeepTheEventsOfManyStreamsInOne() {
    StreamRef shared = shared();
    StreamWriter one = into(shared, "one");
    StreamWriter two = into(shared, "two");

    one.append(numbered(1, 2));
    two.append(List.of(event("3")));
    one.append(List.of(event("")));
    Position last = one.append(List.of(last("4")));
    two.append(List.of(event("5"), last("")));

    assertThat(payloads(readAll(log, shared, Position.START)))
        .containsExactly("1", "2", "3", "4", "5");
    List<LogEvent> read = readAll(log, shared, Position.START);
    assertThat(read).extracting(e -> e.position().number()).containsExactly(1L, 2L, 3L, 4L, 5L);
    assertThat(read).extracting(LogEvent::last).doesNotContain(true);
    assertThat(last.number()).isEqualTo(4);
    assertThat(one.keptIn()).isEqualTo(shared);
  }

  @Test
  void shouldGoOnWithASharedStreamWhenOneOfItsStreamsIsComplete() {
    StreamRef shared = shared();
    StreamWriter one = into(shared, "one");
    one.append(List.of(last("1")));

    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> one.append(List.of(event("late"))));

    into(shared, "two").append(List.of(event("2")));
    List<LogEvent> read = readAll(log, shared, Position.START);
    assertThat(payloads(read)).containsExactly("1", "2");
    assertThat(events(log.read(shared, read.getLast().position(), 10))).isEmpty();
  }

  @Test
  void shouldOpenASharedStreamOnce() {
    StreamRef shared = shared();
    into(shared, "one").append(List.of(event("1")));

    log.openShared(shared);

    assertThat(payloads(readAll(log, shared, Position.START))).containsExactly("1");
    assertThatExceptionOfType(SessionEndedException.class).isThrownBy(() -> into(ref, "two"));
  }

  @Test
  void shouldWakeTheWatcherOfASharedStream() {
    StreamRef shared = shared();
    StreamWriter writer = into(shared, "one");
    CountingWatcher watcher = new CountingWatcher();

    try (Watch _ = log.watch(shared, watcher)) {
      int before = watcher.wakes();
      writer.append(List.of(event("1")));

      await().until(() -> watcher.wakes() > before);
      assertThat(payloads(log.read(shared, Position.START, 10))).containsExactly("1");
    }
  }

  @Test
  void shouldPassNothingByASharedStream() {
    StreamRef shared = shared();
    StreamWriter writer = into(shared, "one");

    try (Watch _ = log.watch(shared, new CountingWatcher())) {
      assertThat(writer.deliverUnlogged(List.of(event("1")))).isFalse();
    }
  }

  @Test
  void shouldCountStreamsThatAreKeptInAnother() {
    log = begun(keeping(1000, 2));
    StreamRef shared = shared();
    StreamWriter writer = into(shared, "one");
    assertThatExceptionOfType(TooManyStreamsException.class).isThrownBy(() -> into(shared, "two"));

    writer.append(List.of(last("1")));

    into(shared, "two").append(List.of(last("2")));
    assertThat(payloads(readAll(log, shared, Position.START))).containsExactly("1", "2");
  }

  @Test
  void shouldEndASharedStreamWithItsSession() {
    StreamRef shared = shared();
    StreamWriter writer = into(shared, "one");
    writer.append(List.of(event("1")));

    log.end(ref.session());

    assertThat(log.read(shared, Position.START, 10)).isEqualTo(new ReadResult.NoSuchStream());
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> writer.append(List.of(event("2"))));
  }

  @Test
  void shouldKeepEveryEventOfStreamsThatAreWrittenAtOnce() throws Exception {
    StreamRef shared = shared();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> writing = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        StreamWriter writer = into(shared, "w" + i);
        String name = "w" + i + ":";
        writing.add(
            threads.submit(() ->
                IntStream.range(0, 25).forEach(n -> writer.append(List.of(event(name + n))))));
      }
      for (Future<?> each : writing) {
        each.get();
      }
    }

    List<LogEvent> read = readAll(log, shared, Position.START);
    assertThat(read).extracting(e -> e.position().number()).isSorted().doesNotHaveDuplicates();
    Map<String, List<Integer>> byWriter = new HashMap<>();
    for (String payload : payloads(read)) {
      String[] parts = payload.split(":", 2);
      byWriter.computeIfAbsent(parts[0], name -> new ArrayList<>()).add(Integer.valueOf(parts[1]));
    }
    assertThat(byWriter).hasSize(8);
    assertThat(byWriter.values())
        .allSatisfy(
            numbers -> assertThat(numbers).isEqualTo(IntStream.range(0, 25).boxed().toList()));
  }
}
