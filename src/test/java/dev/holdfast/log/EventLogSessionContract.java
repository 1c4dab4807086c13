package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.keeping;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogTesting.CountingWatcher;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Beginning and ending sessions, and opening streams in them. */
interface EventLogSessionContract extends EventLogFixture {

  @Test
  default void shouldRemoveTheStreamsOfAnEndedSession() {
    StreamRef second = new StreamRef(ref().key(), "b");
    StreamWriter writer = log().open(ref(), "1");
    Position end = log().open(second, "2").append(List.of(last("1")));
    writer.append(numbered(1, 3));
    CountingWatcher watcher = new CountingWatcher();
    log().watch(ref(), Position.START, watcher);

    log().end(ref().key());

    await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
    assertThat(log().read(ref(), Position.START, 10)).isEqualTo(new ReadResult.NoSuchStream());
    assertThat(log().read(second, end, 10)).isEqualTo(new ReadResult.NoSuchStream());
    assertThat(log().beforeOldest(second)).isEmpty();
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> writer.append(numbered(4, 4)));
    assertThatExceptionOfType(LogException.SessionEnded.class)
        .isThrownBy(() -> log().open(new StreamRef(ref().key(), "c"), "3"));
    assertThat(log().read(ref(), Position.START, 10)).isEqualTo(new ReadResult.NoSuchStream());
  }

  @Test
  default void shouldIgnoreTheEndOfAnUnknownSession() {
    log().end(new LogKey("nobody"));

    assertThat(log().read(new StreamRef(new LogKey("nobody"), "a"), Position.START, 1))
        .isEqualTo(new ReadResult.NoSuchStream());
  }

  @Test
  default void shouldIgnoreASecondBegin() {
    StreamWriter writer = log().open(ref(), "1");

    log().begin(ref().key(), "");

    assertThat(writer.append(numbered(1, 1)).number()).isEqualTo(1);
  }

  @Test
  default void shouldNotBeginAnEndedSessionAgainByItself() {
    StreamRef ended = new StreamRef(new LogKey("e" + UUID.randomUUID()), "a");

    log().markDelivered(ended, new Position(1, 1));
    log().markFullyDelivered(ended, false);
    log().watch(ended, Position.START, new CountingWatcher()).close();

    assertThatExceptionOfType(LogException.SessionEnded.class)
        .isThrownBy(() -> log().open(ended, "1"));
  }

  @Test
  default void shouldOpenAStreamOnlyOnce() {
    log().open(ref(), "1");
    StreamRef done = new StreamRef(ref().key(), "b");
    log().open(done, "2").append(List.of(last("1")));

    assertThatExceptionOfType(LogException.Fenced.class).isThrownBy(() -> log().open(ref(), "1"));
    assertThatExceptionOfType(LogException.Fenced.class).isThrownBy(() -> log().open(done, "2"));
  }

  @Test
  default void shouldLimitOpenStreams() {
    EventLog limited = begun(keeping(100, 3));
    List<StreamWriter> writers =
        IntStream.range(0, 3)
            .mapToObj(i -> limited.open(new StreamRef(ref().key(), "s" + i), "1"))
            .toList();

    assertThatExceptionOfType(LogException.TooManyStreams.class)
        .isThrownBy(() -> limited.open(ref(), "1"));

    writers.getFirst().append(List.of(last("1")));
    limited.open(ref(), "1");
    assertThatExceptionOfType(LogException.TooManyStreams.class)
        .isThrownBy(() -> limited.open(new StreamRef(ref().key(), "c"), "1"));
  }
}
