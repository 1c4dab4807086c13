package dev.holdfast.console.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.Transport;
import dev.holdfast.session.memory.MemorySessionStore;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Complete calls, read from the store. */
class StoredCallsTest {

  private static final String RESULT = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
  private static final String ERROR =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"%s\"}}"
          .formatted("x".repeat(5000));

  private final AtomicLong now = new AtomicLong(1_700_000_000_000L);
  private final InstantSource clock = () -> Instant.ofEpochMilli(now.getAndIncrement());
  private final MemorySessionStore sessions =
      new MemorySessionStore(
          Duration.ofHours(2), () -> new SessionLimits(10_000, 10_000, Map.of()), clock);
  private final MemoryEventLog log =
      new MemoryEventLog(LogTesting.keeping(10_000, 10_000), 1 << 26, Long.MAX_VALUE, clock);
  private final AtomicInteger turns = new AtomicInteger();
  private final AtomicBoolean isOurs = new AtomicBoolean(true);
  private final StoredCalls stored =
      new StoredCalls(
          sessions,
          log,
          () -> {
            turns.incrementAndGet();
            return isOurs.get();
          },
          clock);

  private Session session() {
    Session session =
        new Session(
            SessionId.random(),
            "files",
            null,
            ProtocolVersion.V2025_11_25,
            clock.instant(),
            Transport.STREAMABLE,
            ForwardedHeaders.NONE,
            new Session.Owner(Principal.ANONYMOUS, "", "agent/1", ""));
    sessions.create(session);
    log.begin(StreamNames.key(session.id()), "");
    return session;
  }

  private StreamRef call(Session session, String tool, String... messages) {
    StreamRef stream = StreamNames.next(session);
    StreamWriter writer = log.open(stream, "1", tool, null);
    for (int i = 0; i < messages.length; i++) {
      boolean last = i == messages.length - 1;
      Position _ = writer.append(List.of(new NewEvent(messages[i].getBytes(UTF_8), null, last)));
    }
    return stream;
  }

  private List<JsonObject> found() {
    return stored.calls().stream().map(JsonObject.class::cast).toList();
  }

  @Test
  void shouldFindCompleteCallsThatNobodyKnows() {
    Session session = session();
    StreamRef known = call(session, "deploy", RESULT);
    call(session, "", RESULT); // Another request.
    call(session, "runs");
    StreamRef finished = call(session, "deploy", RESULT);
    log.markFullyDelivered(finished, true);
    call(session(), "fails", ERROR);

    stored.look(Set.of("one"), 1000, known::equals);

    await().until(() -> found().size() == 2);
    JsonObject failed = found().getFirst();
    assertThat(failed.getString("tool")).isEqualTo("fails");
    assertThat(failed.getString("end")).isEqualTo("error");
    assertThat(failed.getBoolean("delivered")).isFalse();
    JsonObject delivered = found().getLast();
    assertThat(delivered.getString("stream")).isEqualTo(finished.name());
    assertThat(delivered.getString("end")).isEqualTo("result");
    assertThat(delivered.getBoolean("delivered")).isTrue();
    assertThat(delivered.getString("client")).isEqualTo("agent/1");
  }

  @Test
  void shouldFindNoMoreThanTheListHasRoomFor() {
    for (int i = 0; i < 300; i++) {
      call(session(), "deploy", RESULT);
    }

    stored.look(Set.of("one"), 250, _ -> false);

    await().until(() -> found().size() == 250);
    assertThat(stored.changes()).isEqualTo(3); // A page at a time.
  }

  @Test
  void shouldReadOnceForAllReplicasAndLooks() {
    isOurs.set(false);
    call(session(), "deploy", RESULT);

    stored.look(Set.of("one"), 1000, _ -> false);
    await().until(() -> turns.get() == 1);
    // A replica has come, but the last read was less than a minute ago.
    stored.look(Set.of("one", "two"), 1000, _ -> false);
    stored.look(Set.of("one", "two"), 1000, _ -> false);

    assertThat(turns).hasValue(1);
    assertThat(found()).isEmpty();
  }

  @Test
  void shouldForgetWhatTheStoreHasForgotten() {
    call(session(), "deploy", RESULT);
    stored.look(Set.of("one"), 1000, _ -> false);
    await().until(() -> found().size() == 1);

    now.addAndGet(Duration.ofHours(2).toMillis());

    assertThat(found()).isEmpty();
  }
}
