package dev.holdfast.console.calls;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.SessionId;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.relay.stream.CallListener;
import dev.holdfast.relay.stream.StreamNames;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Records of calls, as the relay tells of them. */
class CallRecordsTest {

  private static final LogKey SESSION = StreamNames.key(SessionId.random());
  private static final String QUESTION =
      "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\"}";
  private static final String PROGRESS =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}";
  private static final String RESULT = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";

  private final AtomicLong now = new AtomicLong(1000);
  private final InstantSource clock = () -> Instant.ofEpochMilli(now.getAndIncrement());
  private final CallRecords records = new CallRecords(clock);
  private final MemoryEventLog memory =
      new MemoryEventLog(LogTesting.keeping(10_000, 10_000), 1 << 26, Long.MAX_VALUE, clock);

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
    StreamRef stream = new StreamRef(SESSION, "a");
    records.began(stream, "1", "deploy");
    CallListener.Call writer = records.written(stream);
    CallListener.Call first = records.connected(stream, false);
    writer.appended(List.of(event(PROGRESS, false)));
    first.left();
    assertThat(only().getInteger("connections")).isZero();
    CallListener.Call second = records.connected(stream, true);
    writer.appended(List.of(event(QUESTION, false)));
    assertThat(only().getBoolean("waiting")).isTrue();
    assertThat(only().getString("end")).isEmpty();

    writer.appended(List.of(event(RESULT, true)));
    second.left();
    records.delivered(stream);

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
  void shouldCompleteACallOfALostReplicaFromTheStore() {
    memory.begin(SESSION, "");
    StreamRef stream = new StreamRef(SESSION, "a");
    StreamWriter log = memory.open(stream, "1", "deploy", null);
    Position _ = log.append(List.of(event(PROGRESS, false), event(PROGRESS, false)));
    records.takenOver(stream, "1");
    records.written(stream).appended(List.of(event(RESULT, true)));
    Position _ = log.append(List.of(event(RESULT, true)));

    assertThat(only().getString("tool")).isEqualTo("deploy");
    assertThat(only().getLong("events")).isEqualTo(3);
    assertThat(steps(only())).containsExactly("taken over", "ended");
  }

  @Test
  void shouldRecordNoStreamsThatAnswerNoCall() {
    StreamRef standalone = new StreamRef(SESSION, "g");
    records.takenOver(standalone, "");
    records.connected(standalone, false).left();
    records.written(standalone).appended(List.of(event(PROGRESS, false)));
    records.delivered(standalone);

    assertThat(records.last(memory)).isEmpty();
  }

  @Test
  void shouldForgetTheOldestCallsThatAreOver() {
    records.began(new StreamRef(SESSION, "first"), "1", "runs");
    for (int i = 0; i < 3 * CallRecords.MOST; i++) {
      StreamRef stream = new StreamRef(SESSION, "x" + i);
      records.began(stream, "1", "ends");
      records.written(stream).appended(List.of(event(RESULT, true)));
    }

    assertThat(records.last(memory)).hasSize(CallRecords.MOST);
    assertThat(records.find(new StreamRef(SESSION, "x0"))).isNull();
    assertThat(records.find(new StreamRef(SESSION, "first"))).isNotNull();
  }

  @Test
  void shouldBoundTheStepsAndTheIdsOfOneCall() {
    StreamRef stream = new StreamRef(SESSION, "a");
    records.began(stream, "\"" + "9".repeat(1000) + "\"", "deploy");
    for (int i = 0; i < 500; i++) {
      records.connected(stream, false).left();
    }

    assertThat(steps(only())).hasSize(60).endsWith("left");
    assertThat(only().getString("requests")).isEmpty();
  }

  @Test
  void shouldTellThatAClientGotAHandle() {
    StreamRef stream = new StreamRef(SESSION, "a");
    records.began(stream, "1", "deploy");
    CallListener.Call reader = records.connected(stream, false);
    records.held(stream);
    reader.left();

    assertThat(only().getString("early")).isEqualTo("held");
    assertThat(steps(only())).containsExactly("started", "connected", "held");
  }

  @Test
  void shouldTellThatATaskWasCollectedElsewhere() {
    StreamRef stream = new StreamRef(SESSION, "a");
    records.collected(stream);

    assertThat(only().getBoolean("delivered")).isTrue();
    assertThat(only().getBoolean("owned")).isFalse();
  }
}
