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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long and how much a log keeps. */
interface EventLogRetentionContract extends EventLogFixture {

  Duration LONG = Duration.ofHours(1);
  Duration SHORT = Duration.ofMillis(300);

  @Test
  default void shouldReportWhatWasPurgedByCount() {
    EventLog small = begun(keeping(150, 10));
    StreamWriter writer = openAndLeave(small, ref(), "1");
    List<Position> positions = new ArrayList<>();
    for (int n = 1; n <= 1000; n++) {
      positions.add(writer.append(numbered(n, n)));
    }

    Position before = small.beforeOldest(ref()).orElseThrow();
    List<LogEvent> kept = readAll(small, ref(), before);
    int first = (int) kept.getFirst().position().number();

    assertThat(before.number()).isEqualTo(first - 1);
    assertThat(kept).hasSize(1000 - first + 1).hasSizeBetween(150, 150 + trimmingStep());
    Position oldest = positions.get(first - 1);
    Position lastPurged = positions.get(first - 2);
    Position beforeLastPurged = positions.get(first - 3);
    assertThat(payloads(small.read(ref(), oldest, 1))).containsExactly(Integer.toString(first + 1));
    assertThat(payloads(small.read(ref(), lastPurged, 1))).containsExactly(Integer.toString(first));
    assertThat(small.read(ref(), beforeLastPurged, 1)).isEqualTo(new ReadResult.Gap(oldest));
    ReadResult.Gap gap = new ReadResult.Gap(oldest);
    assertThat(small.read(ref(), Position.START, 1)).isEqualTo(gap);
    assertThat(payloads(small.read(ref(), gap.resumeAfter().orElseThrow(), 1)))
        .containsExactly(Integer.toString(first));
  }

  @Test
  default void shouldPurgeAnIdleOpenStreamByAge() {
    EventLog brief = begun(LogTesting.retention(SHORT, SHORT, 1000, LONG, 10));
    StreamWriter writer = brief.open(ref(), "");
    Position first = writer.append(numbered(1, 1));
    Position head = writer.append(numbered(2, 3));

    pass(SHORT);

    await()
        .untilAsserted(() ->
            assertThat(brief.read(ref(), Position.START, 1))
                .isEqualTo(new ReadResult.Gap(null, head)));
    assertThat(brief.read(ref(), first, 1)).isEqualTo(new ReadResult.Gap(null, head));
    assertThat(events(brief.read(ref(), head, 1))).isEmpty();
    assertThat(brief.beforeOldest(ref())).contains(head);
    Position next = writer.append(numbered(4, 4));
    assertThat(next.number()).isEqualTo(4);
    assertThat(payloads(brief.read(ref(), head, 10))).containsExactly("4");
    assertThat(brief.read(ref(), first, 10)).isEqualTo(new ReadResult.Gap(next));
  }

  @Test
  default void shouldRemoveACompleteStreamByAge() {
    EventLog brief = begun(LogTesting.retention(SHORT, LONG, 1000, LONG, 10));
    Position end = brief.open(ref(), "1").append(List.of(event("1"), last("2")));

    pass(SHORT);

    await()
        .untilAsserted(
            () -> assertThat(brief.read(ref(), end, 1)).isEqualTo(new ReadResult.NoSuchStream()));
    assertThat(brief.read(ref(), Position.START, 1)).isEqualTo(new ReadResult.NoSuchStream());
  }

  @Test
  default void shouldKeepAFullyDeliveredStreamBriefly() {
    EventLog brief = begun(LogTesting.retention(LONG, SHORT, 1000, LONG, 10));
    StreamRef stays = new StreamRef(ref().key(), "b");
    Position end = brief.open(ref(), "1").append(List.of(last("1")));
    Position otherEnd = brief.open(stays, "2").append(List.of(last("1")));

    brief.markFullyDelivered(ref(), false);
    pass(SHORT);

    await()
        .untilAsserted(
            () -> assertThat(brief.read(ref(), end, 1)).isEqualTo(new ReadResult.NoSuchStream()));
    assertThat(brief.read(stays, otherEnd, 1)).isEqualTo(new ReadResult.EndOfStream());
  }

  @Test
  default void shouldNotShortenTheRetentionOfAnOpenStream() {
    EventLog brief = begun(LogTesting.retention(LONG, SHORT, 1000, LONG, 10));
    StreamRef retired = new StreamRef(ref().key(), "b");
    StreamWriter writer = brief.open(ref(), "1");
    Position head = writer.append(numbered(1, 1));
    Position end = brief.open(retired, "2").append(List.of(last("1")));

    brief.markFullyDelivered(ref(), false);
    brief.markFullyDelivered(retired, false);
    pass(SHORT);

    await()
        .untilAsserted(
            () -> assertThat(brief.read(retired, end, 1)).isEqualTo(new ReadResult.NoSuchStream()));
    assertThat(payloads(brief.read(ref(), Position.START, 1))).containsExactly("1");
    assertThat(writer.append(numbered(2, 2)).number()).isEqualTo(head.number() + 1);
  }

  /** Pages that were bounded by events alone took the heap when the events were large. */
  @Test
  default void shouldReadLargeEventsWithinABoundOfBytes() {
    StreamWriter writer = log().open(ref(), "1");
    byte[] large = new byte[1 << 20];
    for (int n = 1; n <= 300; n++) {
      writer.append(List.of(new NewEvent(large, null, n == 300)));
    }

    int read = 0;
    Position cursor = Position.START;
    while (log().read(ref(), cursor, 500, 3 << 20) instanceof ReadResult.Events(var page)) {
      assertThat(page).hasSizeBetween(1, 3);
      read += page.size();
      cursor = page.getLast().position();
    }
    assertThat(read).isEqualTo(300);
    assertThat(log().read(ref(), cursor, 500, 1)).isEqualTo(new ReadResult.EndOfStream());
    assertThat(events(log().read(ref(), Position.START, 500, 1))).hasSize(1);
  }

  @Test
  default void shouldBoundPagesOfSmallAndLargeEvents() {
    StreamWriter writer = log().open(ref(), "1");
    writer.append(numbered(1, 50));
    writer.append(List.of(new NewEvent(new byte[100_000], null, false)));
    writer.append(numbered(52, 100));

    List<Integer> sizes = new ArrayList<>();
    Position cursor = Position.START;
    for (List<LogEvent> page = events(log().read(ref(), cursor, 500, 100_000));
        !page.isEmpty();
        page = events(log().read(ref(), cursor, 500, 100_000))) {
      sizes.add(page.stream().mapToInt(event -> event.payload().length).sum());
      cursor = page.getLast().position();
    }
    assertThat(cursor.number()).isEqualTo(100);
    assertThat(sizes).allMatch(bytes -> bytes <= 100_000);
  }

  /** A log of which a stream and a session keep at most some bytes. */
  private EventLog limited(long streamBytes, long sessionBytes) {
    return begun(new Retention(LONG, LONG, 100_000, streamBytes, LONG, sessionBytes, 10));
  }

  private static List<NewEvent> filled(int bytes, boolean last) {
    return List.of(new NewEvent(new byte[bytes], null, last));
  }

  @Test
  default void shouldPurgeTheOldestEventsOfAStreamWithTooManyBytes() {
    EventLog small = limited(200_000, 10_000_000);
    StreamWriter writer = openAndLeave(small, ref(), "1");
    StreamWriter other = openAndLeave(small, new StreamRef(ref().key(), "b"), "2");
    Position beside = other.append(numbered(1, 1));
    Position first = writer.append(filled(10_000, false));
    for (int n = 2; n <= 99; n++) {
      writer.append(filled(10_000, false));
    }
    Position end = writer.append(filled(10_000, true));

    ReadResult.Gap gap = (ReadResult.Gap) small.read(ref(), first, 100);
    List<LogEvent> kept = readAll(small, ref(), gap.resumeAfter().orElseThrow());
    assertThat(kept).hasSizeBetween(14, 20);
    assertThat(kept.getLast().position()).isEqualTo(end);
    assertThat(small.read(other.stream(), beside, 1)).isEqualTo(new ReadResult.Events(List.of()));
    assertThat(events(small.read(other.stream(), Position.START, 1))).hasSize(1);
  }

  @Test
  default void shouldKeepTheNewestEventHoweverLarge() {
    EventLog small = limited(10_000, 20_000);
    StreamWriter writer = openAndLeave(small, ref(), "1");
    Position first = writer.append(numbered(1, 1));
    Position second = writer.append(filled(100_000, false));

    assertThat(events(small.read(ref(), first, 10)).getFirst().position()).isEqualTo(second);
  }

  @Test
  default void shouldReportAGapInsteadOfACompleteStreamThatItsSessionHasNoRoomFor() {
    EventLog small = limited(400_000, 400_000);
    StreamWriter done = openAndLeave(small, ref(), "1");
    Position head = done.append(filled(50_000, false));
    done.append(filled(50_000, true));
    small.markFullyDelivered(ref(), false);
    StreamWriter writer = small.openUnfollowed(new StreamRef(ref().key(), "b"), null);
    assertThat(events(small.read(ref(), head, 10))).hasSize(1);
    Position newest = Position.START;
    for (int n = 1; n <= 80; n++) {
      newest = writer.append(filled(10_000, false));
    }

    assertThat(small.read(ref(), head, 10)).isInstanceOf(ReadResult.Gap.class);
    ReadResult.Gap gap = (ReadResult.Gap) small.read(writer.stream(), Position.START, 10);
    List<LogEvent> kept = readAll(small, writer.stream(), gap.resumeAfter().orElseThrow());
    assertThat(kept).hasSizeBetween(10, 40);
    assertThat(kept.getLast().position()).isEqualTo(newest);
  }

  @Test
  default void shouldPurgeASharedStreamWithTooManyBytes() {
    EventLog small = limited(200_000, 10_000_000);
    StreamRef shared = new StreamRef(ref().key(), "m");
    small.openShared(shared);
    StreamWriter writer = small.open(ref(), "1", "m");
    for (int n = 1; n <= 100; n++) {
      writer.append(filled(10_000, n == 100));
    }

    ReadResult.Gap gap = (ReadResult.Gap) small.read(shared, Position.START, 100);
    assertThat(readAll(small, shared, gap.resumeAfter().orElseThrow())).hasSizeBetween(14, 20);
  }
}
