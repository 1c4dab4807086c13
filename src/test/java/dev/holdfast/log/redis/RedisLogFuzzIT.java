package dev.holdfast.log.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.Corpus;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Arguments of the Lua scripts that peers choose: payloads, event ids, request ids. Jazzer does not
 * run it: the scripts run in Redis, where it sees no coverage.
 */
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class RedisLogFuzzIT {

  private static final byte[] END = {'.'};
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Retention RETENTION = LogTesting.retention(HOUR, HOUR, 100_000, HOUR, 100);

  @AutoClose private static RedisFixture redis;

  @AutoClose private final Replica replica = new Replica("fuzz", redis.url(), RETENTION);

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
  }

  @Test
  void shouldKeepEveryArgumentAsItIs() {
    replica.log.begin(new LogKey("session"), "");
    int[] streams = {0};
    Corpus.Inputs.withRandom("lua", 500)
        .forEach(input -> {
          String text = new String(input, UTF_8);
          StreamRef stream = new StreamRef(new LogKey("session"), "s" + streams[0]++);
          StreamWriter writer = replica.log.open(stream, text);
          writer.append(List.of(new NewEvent(input, text, false), new NewEvent(END, null, true)));

          ReadResult read = replica.log.read(stream, Position.START, 10);

          assertThat(read).as(Arrays.toString(input)).isInstanceOf(ReadResult.Events.class);
          List<LogEvent> events = ((ReadResult.Events) read).events();
          assertThat(events).extracting(LogEvent::payload).containsExactly(input, END);
          assertThat(events).extracting(LogEvent::upstreamId).containsExactly(text, null);
          assertThat(events.getLast().last()).isTrue();
        });
    assertThat(redis.keys()).allMatch(key -> key.startsWith("test:"));
    assertThat(redis.keys()).allMatch(key -> !redis.command("PTTL", key).equals(":-1"));
  }
}
