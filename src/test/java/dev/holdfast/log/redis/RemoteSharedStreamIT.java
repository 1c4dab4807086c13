package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.last;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.AppendScripts;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Streams that are opened in the name of another replica and kept in a shared stream. */
class RemoteSharedStreamIT extends SharedStreamFixture {

  /** Its reply was lost, and the retry comes after the call: the tool would run twice. */
  @Test
  void shouldFindTheRetryOfARequestThatWasAnswered() {
    // This replica is not running. A running replica would collect the message by itself.
    StreamScripts streams = new StreamScripts(a.client, Replica.KEYS, "h", RETENTION);
    AppendScripts appends = new AppendScripts(a.client, Replica.KEYS, "h", RETENTION);
    InboxScripts owner = new InboxScripts(a.client, Replica.KEYS, "h", RETENTION);
    streams.open(new StreamRef(session, "g"), "h beef", "", "m", false);
    InboxScripts other = new InboxScripts(b.client, Replica.KEYS, "b", RETENTION);
    byte[] question = "question".getBytes(UTF_8);
    other.openRemote(ref, "f00d", "1", "m", "g", question);
    InboxScripts.Entry message = owner.collect(session, List.of()).getFirst();
    appends.appendToShared(ref, shared, "h f00d", new Position(0, 0), "-", List.of(last("answer")));
    assertThat(owner.collect(session, List.of(message.received()))).isEmpty();

    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> other.openRemote(ref, "f00d", "1", "m", "g", question));

    assertThat(other.isOpen(ref)).isFalse();
    assertThat(other.waiting(List.of(session))).isEmpty();
    assertThat(readShared()).containsExactly("answer");
  }
}
