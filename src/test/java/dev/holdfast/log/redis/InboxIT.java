package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.last;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Messages reach the owners of their streams once and in order. */
class InboxIT extends InboxFixture {

  @Test
  void shouldReachTheOwnerOnceAndInOrder() {
    InboxReplica owner = replica("a");
    InboxReplica other = replica("b");
    owner.log().open(ref, "1");
    List<String> all = numbers(200);

    all.forEach(message -> put(other, ref, message));

    await().until(() -> owner.received().size() >= all.size());
    await().until(() -> waiting().equals(":0"));
    assertThat(owner.received()).isEqualTo(all);
    assertThat(other.received()).isEmpty();
  }

  @Test
  void shouldGiveEachMessageToOneOfManyCollectors() throws Exception {
    InboxReplica owner = silent("a");
    InboxReplica other = replica("b");
    owner.log().open(ref, "1");
    List<String> all = numbers(100);
    all.forEach(message -> put(other, ref, message));
    owner.receiveAll();

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Callable<Boolean> collect =
          () -> {
            owner.inbox().collect(session);
            other.inbox().collect(session);
            // All messages are received when a collector returns, also by other collectors.
            return owner.received().size() == 100;
          };
      for (Future<Boolean> complete : threads.invokeAll(List.of(collect, collect, collect))) {
        assertThat(complete.get()).isTrue();
      }
    }

    assertThat(owner.received()).isEqualTo(all);
    assertThat(other.received()).isEmpty();
  }

  @Test
  void shouldPassLargeMessagesUnchanged() {
    InboxReplica owner = replica("a");
    InboxReplica other = replica("b");
    owner.log().open(ref, "1");
    String large = "é\0".repeat(1 << 20);

    put(other, ref, large);
    put(other, ref, large);
    put(other, ref, "");

    await().until(() -> owner.received().size() == 3);
    assertThat(owner.received()).containsExactly(large, large, "");
  }

  @Test
  void shouldReachEachOtherOwnerOnce() {
    InboxReplica one = replica("a");
    InboxReplica two = replica("ab");
    InboxReplica sender = replica("c");
    List<Integer> streams = new CopyOnWriteArrayList<>();
    one.receive(message -> {
      streams.add(message.streams().size());
      one.received().add(text(message));
    });
    one.log().open(ref, "1");
    one.log().open(new StreamRef(session, "a2"), "2");
    two.log().open(new StreamRef(session, "b1"), "3");
    sender.log().open(new StreamRef(session, "c1"), "4");

    assertThat(sender.inbox().putForOthers(session, "x".getBytes(UTF_8))).isEqualTo(2);

    await().until(() -> !one.received().isEmpty() && !two.received().isEmpty());
    await().until(() -> waiting().equals(":0"));
    assertThat(one.received()).containsExactly("x");
    assertThat(streams).containsExactly(2);
    assertThat(two.received()).containsExactly("x");
    assertThat(sender.received()).isEmpty();
  }

  @Test
  void shouldPutNothingForStreamsThatAreNotOpen() {
    InboxReplica owner = replica("a");
    InboxReplica other = replica("b");
    owner.log().open(ref, "1").append(List.of(last("end")));

    assertThat(other.inbox().put(ref, new byte[1])).isFalse();
    assertThat(other.inbox().put(new StreamRef(session, "never"), new byte[1])).isFalse();
    assertThat(other.inbox().put(new StreamRef(new LogKey("unknown"), "a1"), new byte[1]))
        .isFalse();
    assertThat(other.inbox().putForOthers(session, new byte[1])).isZero();
    assertThat(waiting()).isEqualTo(":0");
  }

  @Test
  void shouldDropMessagesForStreamsThatHaveEnded() {
    InboxReplica owner = silent("a");
    InboxReplica other = replica("b");
    StreamWriter writer = owner.log().open(ref, "1");
    put(other, ref, "late");
    writer.append(List.of(last("end")));
    owner.receiveAll();

    other.inbox().collect(session);

    assertThat(waiting()).isEqualTo(":0");
    owner.inbox().collect(session);
    assertThat(owner.received()).isEmpty();
  }

  @Test
  void shouldEndWithItsSession() {
    InboxReplica owner = silent("a");
    InboxReplica other = replica("b");
    owner.log().open(ref, "1");
    put(other, ref, "1");
    assertThat(redis.command("PTTL", Replica.KEYS.inbox(session.value()))).startsWith(":3");

    other.log().end(session);

    assertThat(redis.command("EXISTS", Replica.KEYS.inbox(session.value()))).isEqualTo(":0");
  }

  /** Calls without output would otherwise run on after their session has ended. */
  @Test
  void shouldTellOwnersThatASessionHasEnded() {
    InboxReplica owner = replica("a");
    InboxReplica other = replica("b");
    owner.log().open(ref, "1");

    other.log().end(session);

    await().until(() -> owner.ended().equals(List.of(session)));
  }

  @Test
  void shouldNameTheOpenCallsOfAllReplicas() {
    InboxReplica one = replica("a");
    InboxReplica two = replica("b");
    one.log().open(ref, "1,\"x\"");
    one.log().open(new StreamRef(session, "g"), "");
    one.log().open(new StreamRef(session, "done"), "2").append(List.of(last("end")));
    two.log().open(new StreamRef(session, "b1"), "3");

    assertThat(two.inbox().openCalls(session))
        .containsExactlyInAnyOrder(
            new Inbox.OpenCall(ref, "1,\"x\""),
            new Inbox.OpenCall(new StreamRef(session, "b1"), "3"));
    assertThat(two.inbox().openCalls(new LogKey("unknown"))).isEmpty();
  }
}
