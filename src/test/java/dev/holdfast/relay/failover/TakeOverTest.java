package dev.holdfast.relay.failover;

import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.SessionId;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.RelayFixture;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.relay.pump.UpstreamErrors;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TakeOverTest {

  private static final String LOST = "lost";

  private final RelayFixture fixture = new RelayFixture();
  private final Left left = new Left();
  private final TakeOver takeOver = fixture.takeOver(left);

  @SuppressWarnings("NullAway.Init")
  private Session session;

  /** The streams of the lost replica. */
  private static final class Left implements SharedLog {
    final List<SharedLog.AdoptedStream> streams = new ArrayList<>();

    @Override
    public List<SharedLog.AdoptedStream> adopt(LogKey session, String former) {
      assertThat(former).isEqualTo(LOST);
      return streams;
    }

    @Override
    public Set<StreamRef> findTakenOver(Collection<StreamRef> owned) {
      return Set.copyOf(owned);
    }
  }

  @BeforeEach
  void open() {
    session = fixture.open(SCRIPTED);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private StreamRef leave(
      String name, String requests, @Nullable String upstreamId, String... events) {
    StreamRef stream = new StreamRef(new LogKey(session.id().value()), name);
    StreamWriter writer = fixture.log.open(stream, requests);
    for (String event : events) {
      writer.append(List.of(new NewEvent(event.getBytes(UTF_8), null, false)));
    }
    left.streams.add(new SharedLog.AdoptedStream(writer, requests, upstreamId));
    return stream;
  }

  private List<String> written(StreamRef stream) {
    return payloads(readAll(fixture.log, stream, Position.START));
  }

  private static String result(int id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{}}";
  }

  @Test
  void shouldContinueWhatTheServerCanResume() {
    StreamRef stream = leave("a", "1", "u7", "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}");
    fixture.scripted.resume =
        id -> new ScriptedSource().bring(id.equals("u7") ? result(1) : "wrong id");

    takeOver.takeOver(new LogKey(session.id().value()), LOST);

    await().until(() -> written(stream).size() == 2);
    assertThat(written(stream).getLast()).isEqualTo(result(1));
    assertThat(fixture.heard.resumptions).hasValue(1);
    assertThat(fixture.heard.lost).hasValue(0);
  }

  @Test
  void shouldRetryWhileTheServerIsAway() {
    StreamRef stream = leave("a", "1", "u7");
    AtomicInteger asked = new AtomicInteger();
    fixture.scripted.resume =
        id -> {
          if (asked.incrementAndGet() == 1) {
            throw new UpstreamException.Refused(409, null, null);
          }
          return new ScriptedSource().bring(result(1));
        };

    takeOver.takeOver(new LogKey(session.id().value()), LOST);

    await().until(() -> written(stream).equals(List.of(result(1))));
  }

  /** The client shows its token to this replica only with its next request. */
  @Test
  void shouldWaitForTheTokenOfTheClient() {
    StreamRef stream = leave("a", "1", "u7");
    AtomicInteger asked = new AtomicInteger();
    fixture.scripted.resume =
        id -> {
          // More often than a server is asked that is away.
          if (asked.incrementAndGet() <= 7) {
            throw new UpstreamException.NoToken();
          }
          return new ScriptedSource().bring(result(1));
        };

    takeOver.takeOver(new LogKey(session.id().value()), LOST);

    await().until(() -> written(stream).equals(List.of(result(1))));
  }

  @Test
  void shouldEndWithAnErrorWhatTheServerCannotResume() {
    StreamRef without = leave("a", "\"x\"", null);
    StreamRef refused = leave("b", "2", "u7");
    fixture.scripted.resume =
        id -> {
          throw new UpstreamException.Refused(400, null, null);
        };

    takeOver.takeOver(new LogKey(session.id().value()), LOST);

    await().until(() -> written(without).size() == 1 && written(refused).size() == 1);
    assertThat(written(without).getFirst())
        .contains("\"id\":\"x\"")
        .contains(UpstreamErrors.REPLICA_LOST);
    assertThat(written(refused).getFirst())
        .contains("\"id\":2")
        .contains(UpstreamErrors.REPLICA_LOST);
    assertThat(fixture.heard.lost).hasValue(2);
  }

  @Test
  void shouldAnswerOnlyTheOpenRequestsOfABatch() {
    StreamRef stream = leave("a", "1,2,3", null, result(2));

    takeOver.takeOver(new LogKey(session.id().value()), LOST);

    await().until(() -> written(stream).size() == 3);
    assertThat(written(stream).get(1)).contains("\"id\":1");
    assertThat(written(stream).get(2)).contains("\"id\":3");
  }

  @Test
  void shouldListenAfterTheNewestEvent() {
    StreamRef stream = leave(StreamNames.STANDALONE, "", "u3");
    MessageSource source = new ScriptedSource().bring("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}");
    fixture.scripted.listen = () -> Optional.of(source);

    takeOver.takeOver(new LogKey(session.id().value()), LOST);

    await().until(() -> written(stream).size() == 1);
    assertThat(fixture.scripted.listenedAfter).containsExactly("u3");
    assertThat(fixture.isPumping(session)).isTrue();
    fixture.stopLostPumps(left);
    await().until(() -> !fixture.isPumping(session));
  }

  /** The call had no owner when it was cancelled. It must neither resume nor fail. */
  @Test
  void shouldEndACallThatWasCancelledBeforeTheTakeOver() {
    StreamRef stream = leave("a", "1", "u7");
    AtomicInteger asked = new AtomicInteger();
    fixture.scripted.resume =
        id -> {
          asked.incrementAndGet();
          return new ScriptedSource();
        };
    fixture.inbox.leave(stream, RelayFixture.cancelled("1"));

    takeOver.takeOver(new LogKey(session.id().value()), LOST);

    await().until(() -> written(stream).equals(List.of("")));
    assertThat(asked).hasValue(0);
  }

  @Test
  void shouldTakeOverAlthoughTheInboxIsAway() {
    StreamRef stream = leave("a", "1", null);
    fixture.inbox.away = true;

    takeOver.takeOver(new LogKey(session.id().value()), LOST);

    await().until(() -> written(stream).size() == 1);
  }

  /** No other replica writes a claimed stream, and the log may be away right after the claim. */
  @Test
  void shouldTakeOverEveryStreamWhenTheLogIsAwayAfterTheClaim() {
    StreamRef batch = leave("a", "1,2", null, result(2));
    StreamRef call = leave("b", "3", null);
    fixture.log.failingReads.set(2);

    takeOver.takeOver(new LogKey(session.id().value()), LOST);

    await().until(() -> written(batch).size() == 2 && written(call).size() == 1);
    assertThat(written(batch).getLast()).contains("\"id\":1");
  }

  /** The replica that ended the session may have been killed before it ended the log. */
  @Test
  void shouldEndTheLogOfASessionWithoutARecord() {
    StreamRef stream = leave("a", "1", null);
    fixture.store.end(session.id());

    takeOver.takeOver(new LogKey(session.id().value()), LOST);

    assertThat(fixture.log.read(stream, Position.START, 10))
        .isInstanceOf(ReadResult.NoSuchStream.class);
  }

  @Test
  void shouldSkipASessionThatHasEnded() {
    leave("a", "1", null);
    fixture.sessions.end(session);

    takeOver.takeOver(new LogKey(session.id().value()), LOST);
    takeOver.takeOver(new LogKey(SessionId.random().value()), LOST);
    takeOver.takeOver(new LogKey("no-id-of-ours"), LOST);

    assertThat(fixture.heard.lost).hasValue(0);
  }
}
