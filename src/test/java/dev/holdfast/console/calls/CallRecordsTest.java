package dev.holdfast.console.calls;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.memory.MemoryEventLog;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Records of calls, as a log in memory makes them. */
class CallRecordsTest {

  private static final LogKey SESSION = new LogKey("s");
  private static final String QUESTION =
      "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\"}";
  private static final String PROGRESS =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}";
  private static final String RESULT = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";

  private final AtomicLong now = new AtomicLong(1000);
  private final InstantSource clock = () -> Instant.ofEpochMilli(now.getAndIncrement());
  private final CallRecords records = new CallRecords(clock);
  private final MemoryEventLog memory =
      new MemoryEventLog(
          new Retention(
              Duration.ofHours(1),
              Duration.ofHours(1),
              10_000,
              1 << 24,
              Duration.ofHours(1),
              1 << 24,
              10_000),
          1 << 26,
          Long.MAX_VALUE,
          clock);
  private final RecordedLog log = new RecordedLog(memory, records);

  private static final EventLog.Watcher DEAF =
      new EventLog.Watcher() {
        @Override
        public void wake() {}

        @Override
        public void evicted() {}
      };

  private static NewEvent event(String message, boolean last) {
    return new NewEvent(message.getBytes(UTF_8), null, last);
  }

  private JsonObject only() {
    JsonArray all = records.last(memory);
    assertThat(all).hasSize(1);
    return all.getJsonObject(0);
  }

  private static List<Object> steps(JsonObject call) {
    return call.getJsonArray("steps").stream().map(step -> ((JsonArray) step).getValue(1)).toList();
  }

  @Test
  void shouldTellWhatHappenedToACall() {
    memory.begin(SESSION, "");
    StreamRef stream = new StreamRef(SESSION, "a");
    StreamWriter writer = log.open(stream, "1", "deploy", null);
    EventLog.Watch first = log.watch(stream, Position.START, DEAF);
    Position progress = writer.append(List.of(event(PROGRESS, false)));
    first.close();
    assertThat(only().getInteger("connections")).isZero();
    EventLog.Watch second = log.watch(stream, progress, DEAF);
    Position _ = writer.append(List.of(event(QUESTION, false)));
    assertThat(only().getBoolean("waiting")).isTrue();
    assertThat(only().getString("end")).isEmpty();

    Position _ = writer.append(List.of(event(RESULT, true)));
    second.close();
    log.markFullyDelivered(stream, false);

    JsonObject call = only();
    assertThat(call.getString("tool")).isEqualTo("deploy");
    assertThat(call.getString("requests")).isEqualTo("1");
    assertThat(call.getLong("events")).isEqualTo(3);
    assertThat(call.getLong("bytes"))
        .isEqualTo(PROGRESS.length() + QUESTION.length() + RESULT.length());
    assertThat(call.getString("end")).isEqualTo("result");
    assertThat(call.getBoolean("waiting")).isFalse();
    assertThat(call.getBoolean("delivered")).isTrue();
    assertThat(steps(call))
        .containsExactly("started", "connected", "left", "resumed", "ended", "delivered");
  }

  @Test
  void shouldRecordNoStreamsThatCallNoTool() {
    memory.begin(SESSION, "");
    StreamWriter _ = log.open(new StreamRef(SESSION, "a"), "1", "", null);
    StreamWriter _ = log.openUnfollowed(new StreamRef(SESSION, "g"), null);
    log.watch(new StreamRef(SESSION, "g"), null, DEAF).close();

    assertThat(records.last(memory)).isEmpty();
  }

  @Test
  void shouldForgetTheOldestCallsThatAreOver() {
    memory.begin(SESSION, "");
    StreamWriter _ = log.open(new StreamRef(SESSION, "first"), "1", "runs", null);
    for (int i = 0; i < 3 * CallRecords.MOST; i++) {
      StreamWriter writer = log.open(new StreamRef(SESSION, "x" + i), "1", "ends", null);
      Position _ = writer.append(List.of(event(RESULT, true)));
    }

    assertThat(records.last(memory)).hasSize(CallRecords.MOST);
    assertThat(records.find(new StreamRef(SESSION, "x0"))).isNull();
    assertThat(records.find(new StreamRef(SESSION, "first"))).isNotNull();
  }

  @Test
  void shouldBoundTheStepsAndTheIdsOfOneCall() {
    memory.begin(SESSION, "");
    StreamRef stream = new StreamRef(SESSION, "a");
    StreamWriter _ = log.open(stream, "\"" + "9".repeat(1000) + "\"", "deploy", null);
    for (int i = 0; i < 500; i++) {
      log.watch(stream, Position.START, DEAF).close();
    }

    assertThat(steps(only())).hasSize(60).endsWith("left");
    assertThat(only().getString("requests")).isEmpty();
  }
}
