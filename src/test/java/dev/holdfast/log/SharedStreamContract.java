package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.keeping;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogTesting.CountingWatcher;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Streams whose events a shared stream keeps. */
interface SharedStreamContract extends EventLogFixture {

  private StreamRef shared() {
    StreamRef shared = new StreamRef(ref().key(), "m");
    log().openShared(shared);
    return shared;
  }

  private StreamWriter into(StreamRef shared, String name) {
    return log().open(new StreamRef(ref().key(), name), "1", shared.name());
  }

  @Test
  default void shouldKeepTheEventsOfManyStreamsInOne() {
    StreamRef shared = shared();
    StreamWriter one = into(shared, "one");
    StreamWriter two = into(shared, "two");

    one.append(numbered(1, 2));
    two.append(List.of(event("3")));
    one.append(List.of(event("")));
    Position last = one.append(List.of(last("4")));
    two.append(List.of(event("5"), last("")));

    assertThat(payloads(readAll(log(), shared, Position.START)))
        .containsExactly("1", "2", "3", "4", "5");
    List<LogEvent> read = readAll(log(), shared, Position.START);
    assertThat(read).extracting(e -> e.position().number()).containsExactly(1L, 2L, 3L, 4L, 5L);
    assertThat(read).extracting(LogEvent::last).doesNotContain(true);
    assertThat(last.number()).isEqualTo(4);
    assertThat(one.keptIn()).isEqualTo(shared);
  }

  @Test
  default void shouldContinueASharedStreamAfterOneOfItsStreamsCompleted() {
    StreamRef shared = shared();
    StreamWriter one = into(shared, "one");
    one.append(List.of(last("1")));

    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> one.append(List.of(event("late"))));

    into(shared, "two").append(List.of(event("2")));
    List<LogEvent> read = readAll(log(), shared, Position.START);
    assertThat(payloads(read)).containsExactly("1", "2");
    assertThat(events(log().read(shared, read.getLast().position(), 10))).isEmpty();
  }

  @Test
  default void shouldOpenASharedStreamOnce() {
    StreamRef shared = shared();
    into(shared, "one").append(List.of(event("1")));

    log().openShared(shared);

    assertThat(payloads(readAll(log(), shared, Position.START))).containsExactly("1");
    assertThatExceptionOfType(LogException.SessionEnded.class).isThrownBy(() -> into(ref(), "two"));
  }

  @Test
  default void shouldWakeTheWatcherOfASharedStream() {
    StreamRef shared = shared();
    StreamWriter writer = into(shared, "one");
    CountingWatcher watcher = new CountingWatcher();

    try (EventLog.Watch _ = log().watch(shared, Position.START, watcher)) {
      int before = watcher.wakes();
      writer.append(List.of(event("1")));

      await().until(() -> watcher.wakes() > before);
      assertThat(payloads(log().read(shared, Position.START, 10))).containsExactly("1");
    }
  }

  @Test
  default void shouldDeliverNothingUnloggedToASharedStream() {
    StreamRef shared = shared();
    StreamWriter writer = into(shared, "one");

    try (EventLog.Watch _ = log().watch(shared, Position.START, new CountingWatcher())) {
      assertThat(writer.deliverUnlogged(List.of(event("1")))).isFalse();
    }
  }

  @Test
  default void shouldCountStreamsKeptInASharedStream() {
    useLog(begun(keeping(1000, 2)));
    StreamRef shared = shared();
    StreamWriter writer = into(shared, "one");
    assertThatExceptionOfType(LogException.TooManyStreams.class)
        .isThrownBy(() -> into(shared, "two"));

    writer.append(List.of(last("1")));

    into(shared, "two").append(List.of(last("2")));
    assertThat(payloads(readAll(log(), shared, Position.START))).containsExactly("1", "2");
  }

  @Test
  default void shouldEndASharedStreamWithItsSession() {
    StreamRef shared = shared();
    StreamWriter writer = into(shared, "one");
    writer.append(List.of(event("1")));

    log().end(ref().key());

    assertThat(log().read(shared, Position.START, 10)).isEqualTo(new ReadResult.NoSuchStream());
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> writer.append(List.of(event("2"))));
  }

  @Test
  default void shouldKeepAllEventsOfConcurrentWriters() throws Exception {
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

    List<LogEvent> read = readAll(log(), shared, Position.START);
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
