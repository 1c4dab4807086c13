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

import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Writing and reading events. */
interface EventLogReadContract extends EventLogFixture {

  @Test
  default void shouldNumberEventsWithoutHoles() {
    StreamWriter writer = log().open(ref(), "1");

    Position first = writer.append(numbered(1, 1));
    Position fourth = writer.append(numbered(2, 4));

    List<LogEvent> read = readAll(log(), ref(), Position.START);
    assertThat(payloads(read)).containsExactly("1", "2", "3", "4");
    assertThat(read).extracting(e -> e.position().number()).containsExactly(1L, 2L, 3L, 4L);
    assertThat(read.getFirst().position()).isEqualTo(first);
    assertThat(read.getLast().position()).isEqualTo(fourth);
    assertThat(read).extracting(e -> e.position().millis()).isSorted();
  }

  @Test
  default void shouldReturnPayloadIdAndEndOfEvents() {
    byte[] payload = new byte[256];
    IntStream.range(0, 256).forEach(i -> payload[i] = (byte) i);
    StreamWriter writer = log().open(ref(), "\"x y\"");

    writer.append(List.of(new NewEvent(payload, "up/1 ä", false), event("")));
    writer.append(List.of(new NewEvent("z".getBytes(UTF_8), "up/2", true)));

    List<LogEvent> read = readAll(log(), ref(), Position.START);
    assertThat(read).hasSize(3);
    assertThat(read.get(0).payload()).isEqualTo(payload);
    assertThat(read).extracting(LogEvent::upstreamId).containsExactly("up/1 ä", null, "up/2");
    assertThat(read).extracting(LogEvent::last).containsExactly(false, false, true);
  }

  @Test
  default void shouldReadInPages() {
    log().open(ref(), "1").append(numbered(1, 25));

    List<String> first = payloads(log().read(ref(), Position.START, 10));
    List<LogEvent> rest =
        readAll(log(), ref(), events(log().read(ref(), Position.START, 10)).getLast().position());

    assertThat(first).hasSize(10).startsWith("1").endsWith("10");
    assertThat(payloads(rest)).hasSize(15).startsWith("11").endsWith("25");
    assertThat(payloads(log().read(ref(), Position.START, Integer.MAX_VALUE))).hasSize(25);
  }

  @Test
  default void shouldFindTheNewestEvent() {
    assertThat(log().newest(ref())).isEmpty();
    StreamWriter writer = log().open(ref(), "1");
    assertThat(log().newest(ref()).orElse(Position.START)).isEqualTo(Position.START);

    Position some = writer.append(numbered(1, 700));
    assertThat(log().newest(ref())).contains(some);

    Position end = writer.append(List.of(last("result")));
    assertThat(log().newest(ref())).contains(end);
  }

  @Test
  default void shouldKnowTheNewestEventUntilATime() {
    StreamWriter writer = log().open(ref(), "1");
    assertThat(log().newestUntil(ref(), Long.MAX_VALUE)).isEmpty();

    Position some = writer.append(numbered(1, 700));
    Position end = writer.append(List.of(last("result")));

    assertThat(log().newestUntil(ref(), Long.MAX_VALUE)).contains(end);
    assertThat(log().newestUntil(ref(), end.millis())).contains(end);
    assertThat(log().newestUntil(ref(), some.millis())).isPresent();
    assertThat(log().newestUntil(ref(), some.millis() - 1)).isEmpty();
  }

  /** The copy of recent events is for the tail: another reader must not drop them. */
  @Test
  default void shouldReadBesideATail() {
    StreamWriter writer = log().open(ref(), "1");
    log().watch(ref(), Position.START, new LogTesting.CountingWatcher());
    Position second = writer.append(numbered(1, 2));
    assertThat(events(log().read(ref(), second, 10))).isEmpty();
    Position third = writer.append(numbered(3, 3));

    assertThat(payloads(log().readStored(ref(), Position.START, 10, EventLog.PAGE_BYTES)))
        .containsExactly("1", "2", "3");
    assertThat(events(log().readStored(ref(), third, 10, EventLog.PAGE_BYTES))).isEmpty();
    assertThat(payloads(log().read(ref(), second, 10))).containsExactly("3");

    Position end = writer.append(List.of(last("result")));
    assertThat(log().readStored(ref(), end, 10, EventLog.PAGE_BYTES))
        .isInstanceOf(ReadResult.EndOfStream.class);
  }

  @Test
  default void shouldDeliverNothingUnloggedWithoutAWatcher() {
    StreamWriter writer = log().open(ref(), "1");
    writer.append(numbered(1, 1));

    assertThat(writer.deliverUnlogged(numbered(2, 2))).isFalse();
    writer.recordSkipped();

    assertThat(writer.append(numbered(2, 2)).number()).isEqualTo(2);
    assertThat(readAll(log(), ref(), Position.START))
        .extracting(LogEvent::logged)
        .containsOnly(true);
    assertThatIllegalArgumentException().isThrownBy(() -> writer.deliverUnlogged(List.of()));
  }

  @Test
  default void shouldTellWhetherAStreamIsWrittenHere() {
    log().open(ref(), "1");

    assertThat(log().isWrittenHere(ref())).isTrue();
    assertThat(log().isWrittenHere(new StreamRef(ref().key(), "other"))).isFalse();
    log().end(ref().key());
    assertThat(log().isWrittenHere(ref())).isFalse();
  }

  @Test
  default void shouldRefuseAnEmptyPage() {
    assertThatIllegalArgumentException().isThrownBy(() -> log().read(ref(), Position.START, 0));
  }

  @Test
  default void shouldFindNothingAtTheEndOfAnOpenStream() {
    StreamWriter writer = log().open(ref(), "1");

    assertThat(events(log().read(ref(), Position.START, 10))).isEmpty();

    Position head = writer.append(numbered(1, 3));

    assertThat(events(log().read(ref(), head, 10))).isEmpty();
    assertThat(log().beforeOldest(ref())).isPresent();
  }

  @Test
  default void shouldReportTheEndOfACompleteStream() {
    StreamWriter writer = log().open(ref(), "1");
    writer.append(numbered(1, 2));

    Position end = writer.append(List.of(last("3")));

    assertThat(log().read(ref(), end, 10)).isEqualTo(new ReadResult.EndOfStream());
    assertThat(payloads(readAll(log(), ref(), Position.START))).containsExactly("1", "2", "3");
  }

  @Test
  default void shouldNotFindUnknownStreamsAndSessions() {
    log().open(ref(), "1").append(numbered(1, 1));

    StreamRef otherStream = new StreamRef(ref().key(), "b");
    StreamRef otherSession = new StreamRef(new LogKey("t" + UUID.randomUUID()), ref().name());
    assertThat(log().read(otherStream, Position.START, 10))
        .isEqualTo(new ReadResult.NoSuchStream());
    assertThat(log().read(otherSession, Position.START, 10))
        .isEqualTo(new ReadResult.NoSuchStream());
    assertThat(log().beforeOldest(otherStream)).isEmpty();
    assertThat(log().deliveredUpTo(otherSession)).isEqualTo(Position.START);
  }

  @Test
  default void shouldReportACursorAheadOfTheLog() {
    Position head = log().open(ref(), "1").append(numbered(1, 3));
    Position oldest = events(log().read(ref(), Position.START, 1)).getFirst().position();

    ReadResult ahead = log().read(ref(), new Position(head.millis(), 4), 10);
    ReadResult farAhead = log().read(ref(), new Position(head.millis() + 60_000, 400), 10);

    assertThat(ahead).isEqualTo(new ReadResult.Gap(oldest));
    assertThat(farAhead).isEqualTo(new ReadResult.Gap(oldest));
  }

  @Test
  default void shouldReportACursorAheadOfACompleteStream() {
    Position end = log().open(ref(), "1").append(List.of(event("1"), last("2")));

    assertThat(log().read(ref(), new Position(end.millis(), 3), 10))
        .isInstanceOf(ReadResult.Gap.class);
  }

  /** A store that lost writes may number new events as it numbered the lost ones. */
  @Test
  default void shouldReportACursorWithAnotherTimeThanItsEvent() {
    Position head = log().open(ref(), "1").append(numbered(1, 3));

    for (long number = 1; number <= 3; number++) {
      for (long drift : new long[] {-5000, -1, 1, 5000}) {
        assertThat(log().read(ref(), new Position(head.millis() + drift, number), 10))
            .as("%d, %d ms off", number, drift)
            .isInstanceOf(ReadResult.Gap.class);
      }
    }
  }

  @Test
  default void shouldFenceTheWriterOfACompleteStream() {
    StreamWriter writer = log().open(ref(), "1");
    Position end = writer.append(List.of(last("1")));

    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> writer.append(numbered(2, 2)));
    assertThat(log().read(ref(), end, 10)).isEqualTo(new ReadResult.EndOfStream());
  }

  @Test
  default void shouldRefuseEventsAfterTheLast() {
    StreamWriter writer = log().open(ref(), "1");

    assertThatIllegalArgumentException()
        .isThrownBy(() -> writer.append(List.of(last("1"), event("2"))));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.append(List.of()));
    assertThat(events(log().read(ref(), Position.START, 10))).isEmpty();
  }

  @Test
  default void shouldPassItsCheck() {
    log().sweep();

    log().check();

    assertThat(log().beforeOldest(ref())).isEmpty();
  }
}
