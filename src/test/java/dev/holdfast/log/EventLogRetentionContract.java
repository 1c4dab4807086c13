package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.keeping;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
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
    StreamWriter writer = small.open(ref(), "1");
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
    EventLog brief = begun(new Retention(SHORT, SHORT, 1000, LONG, 10));
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
    EventLog brief = begun(new Retention(SHORT, LONG, 1000, LONG, 10));
    Position end = brief.open(ref(), "1").append(List.of(event("1"), last("2")));

    pass(SHORT);

    await()
        .untilAsserted(
            () -> assertThat(brief.read(ref(), end, 1)).isEqualTo(new ReadResult.NoSuchStream()));
    assertThat(brief.read(ref(), Position.START, 1)).isEqualTo(new ReadResult.NoSuchStream());
  }

  @Test
  default void shouldKeepAFullyDeliveredStreamBriefly() {
    EventLog brief = begun(new Retention(LONG, SHORT, 1000, LONG, 10));
    StreamRef stays = new StreamRef(ref().session(), "b");
    Position end = brief.open(ref(), "1").append(List.of(last("1")));
    Position otherEnd = brief.open(stays, "2").append(List.of(last("1")));

    brief.markFullyDelivered(ref());
    pass(SHORT);

    await()
        .untilAsserted(
            () -> assertThat(brief.read(ref(), end, 1)).isEqualTo(new ReadResult.NoSuchStream()));
    assertThat(brief.read(stays, otherEnd, 1)).isEqualTo(new ReadResult.EndOfStream());
  }

  @Test
  default void shouldNotShortenTheRetentionOfAnOpenStream() {
    EventLog brief = begun(new Retention(LONG, SHORT, 1000, LONG, 10));
    StreamRef retired = new StreamRef(ref().session(), "b");
    StreamWriter writer = brief.open(ref(), "1");
    Position head = writer.append(numbered(1, 1));
    Position end = brief.open(retired, "2").append(List.of(last("1")));

    brief.markFullyDelivered(ref());
    brief.markFullyDelivered(retired);
    pass(SHORT);

    await()
        .untilAsserted(
            () -> assertThat(brief.read(retired, end, 1)).isEqualTo(new ReadResult.NoSuchStream()));
    assertThat(payloads(brief.read(ref(), Position.START, 1))).containsExactly("1");
    assertThat(writer.append(numbered(2, 2)).number()).isEqualTo(head.number() + 1);
  }
}
