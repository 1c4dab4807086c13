package dev.holdfast.log.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogException;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.RedisProxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Replicas, replies or announcements of inbox messages are lost. */
class InboxFaultsIT extends InboxFixture {

  /** The lost replica has not collected the messages, so its successor does, once. */
  @Test
  void shouldReachTheSuccessorOfALostReplica() {
    InboxReplica former = silent("a");
    InboxReplica successor = replica("b");
    InboxReplica other = replica("c");
    former.log().open(ref, "1");
    put(other, ref, "1");
    put(other, ref, "2");
    successor.inbox().collect(session);
    assertThat(successor.received()).isEmpty();

    successor.log().shared().adopt(session, "a");
    successor.inbox().collect(session);
    former.receiveAll();
    former.inbox().collect(session);

    assertThat(successor.received()).containsExactly("1", "2");
    assertThat(former.received()).isEmpty();
    assertThat(waiting()).isEqualTo(":0");
  }

  /** Redis executes the command, and then its reply is lost. */
  @Test
  void shouldReceiveEachMessageOnceWhenRepliesAreLost() {
    RedisProxy proxy = proxy(redis);
    InboxReplica owner = silent("a", proxy.url(), redis.url());
    InboxReplica other = replica("b");
    owner.log().open(ref, "1");
    owner.receive(message -> {});
    owner.inbox().collect(session); // Redis knows the script now.
    proxy.cutAtNextReplies(1);
    owner.receive(message -> {
      owner.received().add(text(message));
      // Cuts the reply to the command that removes this message.
      if (text(message).equals("2")) {
        proxy.cutAtNextReplies(1);
      }
    });

    put(other, ref, "1");
    await().until(() -> owner.received().contains("1"));
    put(other, ref, "2");
    await().until(() -> owner.received().contains("2"));
    put(other, ref, "3");
    await().until(() -> owner.received().contains("3"));

    await().until(() -> waiting().equals(":0"));
    assertThat(proxy.cutsLeft()).isZero();
    assertThat(owner.received()).containsExactly("1", "2", "3");
  }

  @Test
  void shouldRepeatAMessageThatTheReceiverCouldNotHandle() {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      InboxReplica owner = silent("a");
      InboxReplica other = replica("b");
      owner.log().open(ref, "1");
      AtomicInteger offered = new AtomicInteger();
      owner.receive(message -> {
        if (offered.incrementAndGet() == 2) {
          throw new LogException.StoreUnavailable("not now", null);
        }
        owner.received().add(text(message));
        if (text(message).equals("3")) {
          throw new IllegalArgumentException("never");
        }
      });

      numbers(4).forEach(message -> put(other, ref, message));

      await().until(() -> owner.received().contains("4"));
      assertThat(owner.received()).isEqualTo(numbers(4));
      await().until(() -> waiting().equals(":0"));
      log.await("inbox message dropped, the receiver could not handle it");
    }
  }

  /** Redis drops what is published to a channel without a subscriber. */
  @Test
  void shouldCollectAfterItsChannelWasSilent() {
    RedisProxy proxy = proxy(redis);
    InboxReplica owner = silent("a", redis.url(), proxy.url());
    owner.receiveAll();
    InboxReplica other = replica("b");
    owner.log().open(ref, "1");

    proxy.muteConnections();
    put(other, ref, "1");

    await().until(() -> owner.received().equals(List.of("1")));
    put(other, ref, "2");
    await().until(() -> owner.received().equals(List.of("1", "2")));
  }

  @Test
  void shouldCollectWhenItSweeps() {
    InboxReplica owner = silent("a");
    InboxReplica other = replica("b");
    owner.log().open(ref, "1");
    put(other, ref, "1");
    owner.receiveAll();

    owner.log().shared().catchUp(_ -> true);

    await().until(() -> owner.received().equals(List.of("1")));
  }

  /** The client would get 503 and send again, and the server would get the message twice. */
  @Test
  void shouldPutOnceWhenTheReplyIsLost() {
    RedisProxy proxy = proxy(redis);
    InboxReplica owner = silent("a");
    InboxReplica other = silent("b", proxy.url(), redis.url());
    owner.log().open(ref, "1");
    put(other, ref, "1");

    proxy.cutAtNextReplies(1);
    put(other, ref, "2");
    proxy.cutAtNextReplies(1);
    assertThat(other.inbox().putForOthers(session, "3".getBytes(UTF_8))).isEqualTo(1);

    assertThat(proxy.cutsLeft()).isZero();
    assertThat(waiting()).isEqualTo(":3");
    owner.receiveAll();
    owner.inbox().collect(session);
    assertThat(owner.received()).containsExactly("1", "2", "3");
  }
}
