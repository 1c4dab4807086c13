package dev.holdfast.log.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.EventLog.Watcher;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.ClusterFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What differs on a cluster: every script in one slot, and word that comes from any server. */
@Timeout(60)
class ClusterLogIT {

  /** Enough for some on each server. */
  private static final int SESSIONS = 12;

  private static final Retention RETENTION =
      LogTesting.retention(
          Duration.ofMinutes(1), Duration.ofSeconds(30), 1000, Duration.ofMinutes(1), 16);

  @AutoClose private static final ClusterFixture cluster = ClusterFixture.start();

  @SuppressWarnings("NullAway.Init")
  private Replica one;

  @SuppressWarnings("NullAway.Init")
  private Replica two;

  @BeforeEach
  void start() {
    one = Replica.onCluster("one", cluster.hosts(), RETENTION);
    two = Replica.onCluster("two", cluster.hosts(), RETENTION);
  }

  @AfterEach
  void stop() {
    one.close();
    two.close();
  }

  private static NewEvent event(String text) {
    return new NewEvent(text.getBytes(UTF_8), null, false);
  }

  private static NewEvent last(String text) {
    return new NewEvent(text.getBytes(UTF_8), null, true);
  }

  private List<StreamWriter> open(String name) {
    List<StreamWriter> writers = new ArrayList<>();
    for (int i = 0; i < SESSIONS; i++) {
      one.log.begin(new LogKey(name + i), "");
      writers.add(one.log.open(new StreamRef(new LogKey(name + i), "s"), "[1]"));
    }
    return writers;
  }

  private static List<String> texts(ReadResult result) {
    assertThat(result).isInstanceOf(ReadResult.Events.class);
    return ((ReadResult.Events) result)
        .events().stream()
            .map(LogEvent::payload)
            .map(payload -> new String(payload, UTF_8))
            .toList();
  }

  private static Watcher counting(AtomicInteger woken) {
    return new Watcher() {
      @Override
      public void wake() {
        woken.incrementAndGet();
      }

      @Override
      public void evicted() {}
    };
  }

  @Test
  void shouldReadElsewhereWhatWasWritten() {
    for (StreamWriter writer : open("read")) {
      writer.append(List.of(event("a"), event("b")));
      writer.append(List.of(last("c")));

      assertThat(texts(two.log.read(writer.stream(), Position.START, 10)))
          .containsExactly("a", "b", "c");
      assertThat(two.log.beforeOldest(writer.stream())).isPresent();
      two.log.markFullyDelivered(writer.stream(), false);
    }
  }

  @Test
  void shouldWakeAWatcherElsewhere() {
    for (StreamWriter writer : open("wake")) {
      AtomicInteger woken = new AtomicInteger();
      try (EventLog.Watch _ = two.log.watch(writer.stream(), Position.START, counting(woken))) {
        int before = woken.get();
        writer.append(List.of(event("a")));

        await().atMost(Duration.ofSeconds(20)).until(() -> woken.get() > before);
        two.log.markDelivered(writer.stream(), new Position(1, 1));
        await().until(() -> !one.log.deliveredUpTo(writer.stream()).equals(Position.START));
      }
    }
  }

  @Test
  void shouldAdoptElsewhere() {
    for (StreamWriter writer : open("adopt")) {
      writer.append(List.of(new NewEvent("a".getBytes(UTF_8), "upstream-1", false)));
      writer.recordUpstreamCursor("upstream-2");

      List<SharedLog.AdoptedStream> adopted = two.log.shared().adopt(writer.stream().key(), "one");

      assertThat(adopted).hasSize(1);
      assertThat(adopted.getFirst().requests()).isEqualTo("[1]");
      adopted.getFirst().writer().append(List.of(event("b")));
      assertThatExceptionOfType(LogException.Fenced.class)
          .isThrownBy(() -> writer.append(List.of(event("c"))));
      assertThat(one.log.shared().findTakenOver(Set.of(writer.stream())))
          .containsExactly(writer.stream());
    }
  }

  @Test
  void shouldEndASessionEverywhere() {
    List<StreamWriter> writers = open("end");
    List<StreamRef> streams = writers.stream().map(StreamWriter::stream).toList();
    assertThat(one.log.shared().findTakenOver(streams)).isEmpty();
    one.log.shared().catchUp(_ -> true);

    for (StreamWriter writer : writers) {
      writer.append(List.of(event("a")));
      two.log.end(writer.stream().key());

      assertThat(one.log.read(writer.stream(), Position.START, 1))
          .isInstanceOf(ReadResult.NoSuchStream.class);
      assertThatExceptionOfType(LogException.Fenced.class)
          .isThrownBy(() -> writer.append(List.of(event("b"))));
    }
  }
}
