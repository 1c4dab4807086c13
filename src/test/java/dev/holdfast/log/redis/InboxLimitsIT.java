package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.last;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Inboxes refuse messages when too many messages or bytes wait. */
class InboxLimitsIT extends InboxFixture {

  @BeforeEach
  void giveTimeForLargeMessages() {
    timeout = Duration.ofSeconds(20);
  }

  @Test
  void shouldRefuseMessagesWhenItIsFull() {
    InboxReplica owner = silent("a");
    InboxReplica other = replica("b");
    owner.log().open(ref, "1");
    List<String> all = numbers(RedisInbox.MAX_MESSAGES);
    all.forEach(message -> put(other, ref, message));

    assertThatExceptionOfType(LogException.InboxFull.class)
        .isThrownBy(() -> other.inbox().put(ref, new byte[1]));
    owner.receiveAll();
    // A refusal announces the inbox again. There is room if an earlier announcement arrived late.
    Throwable refusal = catchThrowable(() -> other.inbox().put(ref, new byte[1]));
    assertThat(refusal == null || refusal instanceof LogException.InboxFull).isTrue();

    await().until(() -> waiting().equals(":0"));
    assertThat(owner.received()).startsWith(all.toArray(String[]::new));
    put(other, ref, "room");
  }

  @Test
  void shouldRefuseMessagesWhenTooManyBytesWait() {
    InboxReplica owner = silent("a");
    InboxReplica other = replica("b");
    owner.log().open(new StreamRef(session, "g"), "");
    owner.log().open(ref, "1");
    put(other, ref, "x".repeat(RedisInbox.MAX_BYTES - 1));
    put(other, ref, "one more");

    assertThatExceptionOfType(LogException.InboxFull.class)
        .isThrownBy(() -> other.inbox().put(ref, new byte[0]));
    assertThatExceptionOfType(LogException.InboxFull.class)
        .isThrownBy(() -> other.inbox().putForOthers(session, new byte[0]));
    StreamRef asked = new StreamRef(session, "a2");
    assertThatExceptionOfType(LogException.InboxFull.class)
        .isThrownBy(() -> other.inbox().putRequest(asked, "2", "", null, "g", new byte[0]));

    assertThat(other.inbox().isOpen(asked)).isFalse();
    owner.receiveAll();
    owner.inbox().collect(session);
    assertThat(other.inbox().putRequest(asked, "2", "", null, "g", new byte[0])).isTrue();
  }

  @Test
  void shouldCountTheWaitingBytes() {
    InboxReplica owner = silent("a");
    InboxReplica other = replica("b");
    owner.log().open(new StreamRef(session, "g"), "");
    StreamWriter writer = owner.log().open(ref, "1");
    StreamRef asked = new StreamRef(session, "a2");
    put(other, ref, "four");
    assertThat(other.inbox().putForOthers(session, "three".getBytes(UTF_8))).isEqualTo(1);
    assertThat(other.inbox().putRequest(asked, "2", "", null, "g", "sixsix".getBytes(UTF_8)))
        .isTrue();
    assertThat(bytesWaiting()).containsExactly("15");

    writer.append(List.of(last("end")));
    other.inbox().collect(session); // Removes the message for a complete stream.
    assertThat(bytesWaiting()).containsExactly("11");
    owner.receiveAll();
    owner.inbox().collect(session);
    assertThat(bytesWaiting()).containsExactly("");
  }

  @Test
  void shouldCountNothingOfAnInboxThatHasExpired() {
    InboxReplica owner = silent("a");
    InboxReplica other = replica("b");
    owner.log().open(ref, "1");
    put(other, ref, "four");
    redis.command("DEL", Replica.KEYS.inbox(session.value()));

    put(other, ref, "three");

    assertThat(bytesWaiting()).containsExactly("5");
  }

  private List<String> bytesWaiting() {
    return redis.reply("HGET", Replica.KEYS.session(session.value()), "in");
  }
}
