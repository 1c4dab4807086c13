package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting.CountingWatcher;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** Shared streams that keep the events of others, on two replicas. */
class SharedStreamIT extends SharedStreamFixture {

  private static NewEvent fromUpstream(String payload, String id) {
    return new NewEvent(payload.getBytes(UTF_8), id, false);
  }

  @Test
  void shouldWakeTheTailOnAnotherReplica() {
    StreamWriter writer = a.log.open(ref, "1", "m");
    CountingWatcher watcher = new CountingWatcher();

    try (EventLog.Watch _ = b.log.watch(shared, Position.START, watcher)) {
      assertThat(b.log.read(shared, Position.START, 10))
          .isEqualTo(new ReadResult.Events(List.of()));
      int before = watcher.wakes();
      writer.append(List.of(event("1")));
      await().until(() -> watcher.wakes() > before);
    }

    assertThat(readShared()).containsExactly("1");
  }

  /** Its client gets errors for them if Redis loses the session. */
  @Test
  void shouldTellTheTailWhichRequestsItsClientAwaits() {
    Queue<String> asked = new ConcurrentLinkedQueue<>();
    EventLog.Watcher watcher =
        new EventLog.Watcher() {
          @Override
          public void wake() {}

          @Override
          public void requested(String requests) {
            asked.add(requests);
          }

          @Override
          public void evicted() {}
        };
    StreamWriter answered = a.log.open(ref, "0", "m");
    answered.append(List.of(last("1")));
    a.log.open(new StreamRef(session, "a2"), "1", "m");
    a.log.open(new StreamRef(session, "g"), "", "m");
    a.log.open(new StreamRef(session, "alone"), "9");
    try (EventLog.Watch watch = a.log.watch(shared, Position.START, watcher)) {
      assertThat(watch.requests()).isEqualTo("1");

      a.log.open(new StreamRef(session, "a3"), "2", "m");
      assertThat(asked).containsExactly("2");
      b.log.open(new StreamRef(session, "b1"), "\"x y\",3", "m");
      await().until(() -> asked.size() == 2);
      assertThat(asked).containsExactly("2", "\"x y\",3");
      assertThat(
              b.log
                  .shared()
                  .inbox()
                  .putRequest(new StreamRef(session, "b2"), "4", "", "m", "a2", new byte[1]))
          .isTrue();
      await().until(() -> asked.size() == 3);
    }
    assertThat(asked).last().isEqualTo("4");
  }

  @Test
  void shouldEvictTheTailOfAnotherReplica() {
    CountingWatcher older = new CountingWatcher();
    try (EventLog.Watch _ = a.log.watch(shared, Position.START, older);
        EventLog.Watch _ = b.log.watch(shared, Position.START, new CountingWatcher())) {
      await().until(() -> older.evictions() == 1);
    }
  }

  @Test
  void shouldResumeWithTheUpstreamIdOfTheStreamItself() {
    StreamWriter fenced = a.log.open(ref, "1", "m");
    StreamWriter other = b.log.open(new StreamRef(session, "b1"), "2", "m");
    fenced.append(List.of(fromUpstream("1", "up-1"), event("2")));
    other.append(List.of(fromUpstream("3", "other-1")));

    List<SharedLog.AdoptedStream> adopted = b.log.shared().adopt(session, "a");
    StreamWriter successor = adopted.getFirst().writer();
    successor.append(List.of(last("4")));

    assertThat(adopted).hasSize(1);
    assertThat(adopted.getFirst().stream()).isEqualTo(ref);
    assertThat(adopted.getFirst().upstreamId()).isEqualTo("up-1");
    assertThat(successor.keptIn()).isEqualTo(shared);
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> fenced.append(List.of(event("stale"))));
    other.append(List.of(last("5")));
    assertThat(readShared()).containsExactly("1", "2", "3", "4", "5");
  }

  @Test
  void shouldResumeWithTheUpstreamIdRecordedAfterTheLastMessage() {
    StreamWriter writer = a.log.open(ref, "1", "m");
    writer.append(List.of(fromUpstream("1", "up-1")));
    writer.recordUpstreamCursor("up-2");

    // The writer does not wait for this record.
    Request recorded =
        Request.cmd(Command.HGET).arg(Replica.KEYS.session(session.value())).arg("u:a1");
    await().until(() -> String.valueOf(b.client.send(recorded)).endsWith(" up-2"));
    String upstreamId = b.log.shared().adopt(session, "a").getFirst().upstreamId();

    assertThat(upstreamId).isEqualTo("up-2");
  }

  @Test
  void shouldNotAdoptASharedStream() {
    assertThat(b.log.shared().adopt(session, "a")).isEmpty();
  }

  @Test
  void shouldKeepTheAnswerOfAnotherReplicaInTheSharedStream() {
    Queue<Inbox.Message> messages = new ConcurrentLinkedQueue<>();
    a.log
        .shared()
        .inbox()
        .setReceiver(
            new Inbox.Receiver() {
              @Override
              public void receive(Inbox.Message message) {
                messages.add(message);
              }

              @Override
              public void ended(LogKey ended) {}
            });
    StreamWriter owner = a.log.open(new StreamRef(session, "g"), "", "m");

    assertThat(
            b.log.shared().inbox().putRequest(ref, "1", "", "m", "g", "question".getBytes(UTF_8)))
        .isTrue();
    await().until(() -> !messages.isEmpty());
    StreamWriter writer = Objects.requireNonNull(messages.remove().writer());
    owner.append(List.of(event("unasked")));
    writer.append(List.of(last("answer")));

    assertThat(writer.keptIn()).isEqualTo(shared);
    assertThat(readShared()).containsExactly("unasked", "answer");
  }

  @Test
  void shouldPutNoMessageForTheSharedStream() {
    a.log.open(ref, "1", "m").append(numbered(1, 1));

    assertThat(a.log.shared().inbox().putForOthers(session, new byte[] {1})).isZero();
    assertThat(b.log.shared().inbox().putForOthers(session, new byte[] {1})).isEqualTo(1);
  }

  @Test
  void shouldLeaveNothingBehind() {
    a.log.open(ref, "1", "m").append(List.of(event("1"), last("2")));
    a.log.open(new StreamRef(session, "a2"), "1", "m").append(List.of(event("3")));

    b.log.end(session);

    Request keys = Request.cmd(Command.KEYS).arg("*" + session.value() + "*");
    assertThat(a.client.send(keys)).isEmpty();
  }
}
