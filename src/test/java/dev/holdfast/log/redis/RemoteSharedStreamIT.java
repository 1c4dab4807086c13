package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.last;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.AppendScripts;
import dev.holdfast.log.redis.write.OwnedStreams;
import dev.holdfast.log.redis.write.StreamReports;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Streams that are opened in the name of another replica and kept in a shared stream. */
class RemoteSharedStreamIT extends SharedStreamFixture {

  /** Its reply was lost, and the retry comes after the call: the tool would run twice. */
  @Test
  void shouldFindTheRetryOfARequestThatWasAnswered() {
    // This replica is not running. A running replica would collect the message by itself.
    StreamScripts streams = new StreamScripts(a.client, Replica.KEYS, "h", RETENTION);
    AppendScripts appends = new AppendScripts(a.client, Replica.KEYS, "h", RETENTION);
    StreamReports reports = new StreamReports(appends, RETENTION);
    WatcherRegistry watchers = new WatcherRegistry();
    OwnedStreams none = new OwnedStreams(appends, reports, watchers, (_, _) -> {}, RETENTION);
    RedisInbox owner = new RedisInbox(a.client, Replica.KEYS, "h", RETENTION, none);
    streams.open(new StreamRef(session, "g"), "h beef", "", "", "m", false);
    RedisInbox other = new RedisInbox(b.client, Replica.KEYS, "b", RETENTION, none);
    byte[] question = "question".getBytes(UTF_8);
    other.putRequest(ref, "f00d", "1", "", "m", "g", question);
    RedisInbox.Entry message = owner.collect(session, Map.of()).getFirst();
    appends.appendToShared(ref, shared, "h f00d", new Position(0, 0), "-", List.of(last("answer")));
    Map<String, Integer> received = Map.of(message.id(), question.length);
    assertThat(owner.collect(session, received)).isEmpty();

    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> other.putRequest(ref, "f00d", "1", "", "m", "g", question));

    assertThat(other.isOpen(ref)).isFalse();
    assertThat(other.waiting(List.of(session))).isEmpty();
    assertThat(readShared()).containsExactly("answer");
  }
}
