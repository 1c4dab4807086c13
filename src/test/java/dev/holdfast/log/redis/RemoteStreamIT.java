package dev.holdfast.log.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogException;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisProxy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Streams that are opened in the name of another replica, with a request in its inbox. */
class RemoteStreamIT extends InboxFixture {

  @BeforeEach
  void giveTimeForLargeMessages() {
    timeout = Duration.ofSeconds(20);
  }

  @Test
  void shouldOpenAStreamInTheNameOfAnotherReplica() {
    InboxReplica owner = silent("a");
    InboxReplica other = replica("b");
    owner.log().open(new StreamRef(session, "g"), "");
    owner.receive(message -> {
      StreamWriter writer = Objects.requireNonNull(message.writer());
      Position _ = writer.append(List.of(new NewEvent(message.message(), null, true)));
    });

    assertThat(other.inbox().putRequest(ref, "1", "", null, "g", "question".getBytes(UTF_8)))
        .isTrue();

    await().until(() -> LogTesting.readAll(other.log(), ref, Position.START).size() == 1);
    await().until(() -> waiting().equals(":0"));
    assertThat(other.inbox().isOpen(ref)).isFalse();
    assertThat(other.inbox().isOpen(new StreamRef(session, "g"))).isTrue();
  }

  @Test
  void shouldDoNothingWithoutAnOwner() {
    InboxReplica other = replica("b");

    assertThat(other.inbox().putRequest(ref, "1", "", null, "g", "question".getBytes(UTF_8)))
        .isFalse();

    assertThat(other.inbox().isOpen(ref)).isFalse();
    assertThat(waiting()).isEqualTo(":0");
  }

  @Test
  void shouldOpenNothingInASessionThatHasEnded() {
    InboxReplica other = replica("b");
    other.log().end(session);

    assertThatExceptionOfType(LogException.SessionEnded.class)
        .isThrownBy(
            () -> other.inbox().putRequest(ref, "1", "", null, "g", "question".getBytes(UTF_8)));
  }

  /** A sender that is told "nothing was done" sends again, and the tool runs twice. */
  @Test
  void shouldReportAnUnknownOutcomeWhenBothRepliesAreLost() {
    RedisProxy proxy = proxy(redis);
    InboxReplica owner = replica("a");
    InboxReplica other = silent("b", proxy.url(), redis.url());
    StreamRef before = new StreamRef(session, "a0");
    assertThat(other.inbox().putRequest(before, "0", "", null, "g", "".getBytes(UTF_8))).isFalse();
    owner.log().open(new StreamRef(session, "g"), "");

    proxy.cutAtNextReplies(2);

    assertThatExceptionOfType(LogException.OutcomeUnknown.class)
        .isThrownBy(
            () -> other.inbox().putRequest(ref, "1", "", null, "g", "question".getBytes(UTF_8)));
    await().until(() -> owner.received().equals(List.of("question")));
  }

  /** The first attempt may be held up on its way, and arrive when there is room. */
  @Test
  void shouldReportAnUnknownOutcomeWhenOnlyTheSecondAttemptIsRefused() {
    RedisProxy proxy = proxy(redis);
    InboxReplica owner = silent("a");
    InboxReplica other = silent("b", proxy.url(), redis.url());
    StreamRef standalone = new StreamRef(session, "g");
    assertThat(other.inbox().putRequest(ref, "1", "", null, "g", new byte[0])).isFalse();
    owner.log().open(standalone, "");
    put(other, standalone, "x".repeat(RedisInbox.MAX_BYTES));

    proxy.cutAtNextReplies(1);

    assertThatExceptionOfType(LogException.OutcomeUnknown.class)
        .isThrownBy(() -> other.inbox().putRequest(ref, "1", "", null, "g", new byte[0]));
  }

  /** The successor ends the stream. It must not also answer with the fence of the lost owner. */
  @Test
  void shouldDropTheRequestOfALostOwner() {
    InboxReplica owner = silent("a");
    InboxReplica successor = replica("b");
    InboxReplica other = replica("c");
    owner.log().open(new StreamRef(session, "g"), "");
    assertThat(other.inbox().putRequest(ref, "1", "", null, "g", "question".getBytes(UTF_8)))
        .isTrue();
    put(other, new StreamRef(session, "g"), "for the owner");

    List<SharedLog.AdoptedStream> adopted = successor.log().shared().adopt(session, "a");

    assertThat(adopted).hasSize(2);
    await().until(() -> successor.received().equals(List.of("for the owner")));
    await().until(() -> waiting().equals(":0"));
  }
}
