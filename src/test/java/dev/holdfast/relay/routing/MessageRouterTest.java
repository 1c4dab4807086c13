package dev.holdfast.relay.routing;

import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static dev.holdfast.relay.RelayFixture.LOCAL;
import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static dev.holdfast.relay.RelayFixture.body;
import static dev.holdfast.relay.RelayFixture.call;
import static dev.holdfast.relay.RelayFixture.cancelled;
import static dev.holdfast.relay.RelayFixture.initialized;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.call.Caller;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.Inbox.OpenCall;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.RelayFixture;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.OperatorCancellation;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.Upstreams;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class MessageRouterTest {

  private static final String RESPONSE = "{\"jsonrpc\":\"2.0\",\"id\":\"e1\",\"result\":{}}";
  private static final String PROGRESS =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}";

  private final RelayFixture fixture = new RelayFixture();
  private final ScriptedSource source = new ScriptedSource();

  @AfterEach
  void close() {
    fixture.close();
  }

  private static StreamRef ref(Session session, String stream) {
    return new StreamRef(new LogKey(session.id().value()), stream);
  }

  /** A call that runs on this replica. */
  private StreamRef running(Session session, String jsonId) {
    fixture.scripted.answer = _ -> new Answer.Stream(source);
    TestConnection client = fixture.follow(session, call(jsonId, "slow"));
    source.bring(PROGRESS);
    await().until(() -> !client.events().isEmpty());
    String id = client.events().getFirst().id();
    return ref(session, id.substring(0, id.indexOf('_')));
  }

  private List<String> written(StreamRef stream) {
    return payloads(readAll(fixture.log, stream, Position.START));
  }

  private List<String> sent() {
    return fixture.scripted.sent.stream().map(Body::bytes).map(String::new).toList();
  }

  @Test
  void shouldForwardACancellationToTheOwnerBeforeTheUpstream() {
    Session session = fixture.open(SCRIPTED);
    fixture.inbox.calls.add(new OpenCall(ref(session, "other"), "6"));
    fixture.inbox.calls.add(new OpenCall(ref(session, "theirs"), "\"x\",7"));
    CountDownLatch told = new CountDownLatch(1);
    fixture.scripted.onSend =
        () -> {
          if (fixture.inbox.put.equals(List.of("theirs " + cancelled("7")))) {
            told.countDown();
          }
        };

    fixture.sender.send(session, body(cancelled("7")), Caller.UNKNOWN);

    assertThat(told.getCount()).isZero();
    assertThat(sent()).containsExactly(cancelled("7"));
  }

  @Test
  void shouldForwardNoCancellationOfALocalOrUnknownCall() {
    Session session = fixture.open(SCRIPTED);
    StreamRef stream = running(session, "7");
    fixture.inbox.calls.add(new OpenCall(stream, "7"));

    fixture.sender.send(session, body(cancelled("7")), Caller.UNKNOWN);
    fixture.sender.send(session, body(cancelled("8")), Caller.UNKNOWN);
    fixture.sender.send(session, body(RESPONSE), Caller.UNKNOWN);

    await().until(() -> written(stream).equals(List.of(PROGRESS, "")));
    assertThat(fixture.inbox.put).isEmpty();
    assertThat(sent()).containsExactly(cancelled("7"), cancelled("8"), RESPONSE);
  }

  @Test
  void shouldEndACallThatWasCancelledThroughAnotherReplica() {
    Session session = fixture.open(SCRIPTED);
    StreamRef stream = running(session, "7");

    fixture.inbox.bring(stream, cancelled("8"));
    assertThat(source.isClosed()).isFalse();
    fixture.inbox.bring(stream, cancelled("7"));

    await().until(() -> written(stream).equals(List.of(PROGRESS, "")));
    assertThat(source.isClosed()).isTrue();
    assertThat(sent()).isEmpty();
  }

  /** Unlike a client that cancels, one whose call an operator cancels waits for an answer. */
  @Test
  void shouldAnswerTheClientAndTellTheServerOfAnOperatorsCancellation() {
    Session session = fixture.open(SCRIPTED);
    StreamRef stream = running(session, "7");
    String cancellation = new String(OperatorCancellation.of(RequestId.of(7)), UTF_8);

    fixture.inbox.bring(stream, cancellation);

    await().until(() -> written(stream).size() == 2);
    assertThat(written(stream).getLast()).contains("\"id\":7", "-32800", "operator");
    assertThat(source.isClosed()).isTrue();
    assertThat(sent()).containsExactly(cancellation);
  }

  /** The owner is recorded before its pump runs, so a cancellation can arrive in between. */
  @Test
  void shouldNotSendACallThatIsCancelledWhileItsStreamOpens() {
    Session session = fixture.open(SCRIPTED);
    CountDownLatch asked = new CountDownLatch(1);
    fixture.scripted.answer =
        _ -> {
          asked.countDown();
          return new Answer.Stream(source);
        };
    fixture.log.afterOpen = stream -> fixture.inbox.bring(stream, cancelled("7"));

    TestConnection client = fixture.follow(session, call("7", "slow"));

    client.awaitEnd();
    assertThat(client.data()).isEmpty();
    assertThat(asked.getCount()).isOne();
  }

  /** A request other than a call is sent before its stream opens, if the answer is a stream. */
  @Test
  void shouldCloseAnAnswerThatIsCancelledWhileItsStreamOpens() {
    Session session = fixture.open(SCRIPTED);
    fixture.scripted.answer = _ -> new Answer.Stream(source);
    fixture.log.afterOpen = stream -> fixture.inbox.bring(stream, cancelled("7"));

    TestConnection client = fixture.follow(session, RelayFixture.ping("7"));

    client.awaitEnd();
    assertThat(client.data()).isEmpty();
    assertThat(source.isClosed()).isTrue();
  }

  /** A server may close its answer before this replica learns of the cancellation. */
  @Test
  void shouldNotReportTheEndOfACancelledAnswerAsAFailure() {
    Session session = fixture.open(SCRIPTED);
    StreamRef stream = running(session, "7");
    fixture.inbox.leave(stream, cancelled("7"));

    source.end();

    await().until(() -> written(stream).equals(List.of(PROGRESS, "")));
  }

  @Test
  void shouldReportABrokenAnswerWithoutACancellation() {
    Session session = fixture.open(SCRIPTED);
    StreamRef stream = running(session, "7");
    fixture.inbox.away = true;

    source.end();

    await().until(() -> written(stream).size() == 2);
    assertThat(written(stream).getLast()).contains("\"error\"");
  }

  @Test
  void shouldForwardOtherMessagesToResidentCallsOnOtherReplicas() {
    fixture.scripted.resident = true;
    Session session = fixture.open(SCRIPTED);
    fixture.inbox.calls.add(new OpenCall(ref(session, "theirs"), "7"));

    fixture.sender.send(session, body(initialized()), Caller.UNKNOWN);
    fixture.sender.send(session, body(RESPONSE), Caller.UNKNOWN);
    fixture.sender.send(session, body(cancelled("7")), Caller.UNKNOWN);

    assertThat(fixture.inbox.put).containsExactly("* " + RESPONSE, "theirs " + cancelled("7"));
    assertThat(sent()).containsExactly(initialized(), RESPONSE, cancelled("7"));
  }

  @Test
  void shouldPassMessagesOfOtherReplicasToResidentCalls() {
    fixture.scripted.resident = true;
    Session session = fixture.open(SCRIPTED);
    StreamRef stream = running(session, "7");

    fixture.inbox.bring(stream, RESPONSE);
    fixture.inbox.bring(stream, cancelled("7"));

    assertThat(sent()).containsExactly(RESPONSE, cancelled("7"));
    assertThat(fixture.inbox.put).isEmpty();
    await().until(() -> written(stream).equals(List.of(PROGRESS, "")));
  }

  @Test
  void shouldStopCallsWhoseSessionEndsOnAnotherReplica() {
    Session session = fixture.open(SCRIPTED);
    StreamRef _ = running(session, "7");

    fixture.inbox.end(new LogKey(session.id().value()));

    await().until(source::isClosed);
  }

  @Test
  void shouldReceiveAnInboxMessageAgainWhileItsSessionIsUnreadable() {
    SessionStore away =
        (SessionStore)
            Proxy.newProxyInstance(
                SessionStore.class.getClassLoader(),
                new Class<?>[] {SessionStore.class},
                (_, _, _) -> {
                  throw new SessionStoreException(null);
                });
    ScriptedInbox inbox = new ScriptedInbox();
    Pumps pumps = new Pumps(Duration.ofSeconds(5), fixture.heard, null);
    PinnedSessions pinned = new PinnedSessions(inbox, pumps, fixture.heard);
    SessionUpstreams upstreams = new SessionUpstreams(new Upstreams(Map.of()), away);
    Sessions sessions =
        new Sessions(
            away,
            upstreams,
            fixture.log,
            pumps,
            fixture.heard,
            AuditLog.OFF,
            Duration.ofHours(1),
            InstantSource.system());
    MessageRouter router = new MessageRouter(sessions, upstreams, inbox, pumps, pinned);
    router.start();
    StreamRef stream = new StreamRef(new LogKey(SessionId.random().value()), "s");

    assertThatExceptionOfType(LogException.StoreUnavailable.class)
        .isThrownBy(() -> inbox.bring(stream, RESPONSE));
    router.collect(stream.key());
  }

  /** The local server has no open question and must ignore answers. */
  @Test
  void shouldIgnoreMessagesThatConcernNoLocalCall() {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      Session session = fixture.open(LOCAL);
      fixture.scripted.resident = true;
      Session scripted = fixture.open(SCRIPTED);
      fixture.scripted.sendFailure = new UpstreamException.Broken("gone", null);

      fixture.inbox.bring(ref(session, "s"), RESPONSE);
      fixture.inbox.bring(ref(session, "s"), cancelled("7"));
      fixture.inbox.bring(ref(scripted, "s"), RESPONSE);
      fixture.inbox.bring(new StreamRef(new LogKey(SessionId.random().value()), "s"), RESPONSE);
      fixture.inbox.bring(new StreamRef(new LogKey("unknown"), "s"), RESPONSE);
      fixture.inbox.bring(ref(session, "s"), "no message");

      assertThat(fixture.heard.failures).isNotEmpty();
      assertThat(fixture.inbox.put).isEmpty();
      log.await("inbox message is no JSON-RPC reason=");
    }
  }
}
