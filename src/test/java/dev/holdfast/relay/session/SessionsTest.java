package dev.holdfast.relay.session;

import static dev.holdfast.relay.RelayFixture.LOCAL;
import static dev.holdfast.relay.RelayFixture.OPENER;
import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static dev.holdfast.relay.RelayFixture.initialize;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.relay.RelayFixture;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.relay.ScriptedUpstream;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.TooManySessionsException;
import dev.holdfast.testing.SampleSession;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(30)
class SessionsTest {

  private final RelayFixture fixture = new RelayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldOpenASession() {
    SessionOpener.InitializeReply reply =
        fixture.initialize(LOCAL, initialize("2025-06-18"), OPENER);

    Session session = Objects.requireNonNull(reply.session());
    assertThat(reply.messages()).hasSize(1);
    assertThat(session.version()).isEqualTo(ProtocolVersion.V2025_06_18);
    assertThat(session.client()).isEqualTo("c/9");
    assertThat(session.created()).isEqualTo(fixture.clock.instant());
    assertThat(fixture.find(LOCAL, session.id())).isEqualTo(session);
    assertThat(fixture.heard.sessions).hasValue(1);
  }

  /** So that the server can share its processes among clients. */
  @Test
  void shouldTellTheServerWhoOpensASession() {
    fixture.initialize(SCRIPTED, initialize("2025-11-25"), OPENER);

    assertThat(fixture.scripted.openers).containsExactly(OPENER);
  }

  @Test
  void shouldForwardMessagesBeforeTheResponse() {
    byte[] before = {'{', '}'};
    fixture.scripted.handshake =
        () ->
            new Handshake(
                ScriptedUpstream.RESULT,
                ScriptedUpstream.handshake("2025-11-25").link(),
                List.of(new UpstreamMessage(before, null)));

    assertThat(fixture.initialize(SCRIPTED, initialize("2025-11-25"), OPENER).messages())
        .containsExactly(before, ScriptedUpstream.RESULT);
  }

  @Test
  void shouldOpenNoSessionWhenTheServerAnswersWithAnError() {
    byte[] error = {'{', '}'};
    fixture.scripted.handshake = () -> new Handshake(error, null, List.of());

    SessionOpener.InitializeReply reply =
        fixture.initialize(SCRIPTED, initialize("2025-11-25"), OPENER);

    assertThat(reply.session()).isNull();
    assertThat(reply.messages()).containsExactly(error);
    assertThat(fixture.store.count()).isZero();
    assertThat(fixture.scripted.ended).hasValue(0);
  }

  @Test
  void shouldFailWhenTheServerIsUnreachable() {
    UpstreamException failure = new UpstreamException.Unreachable(null);
    fixture.scripted.handshake =
        () -> {
          throw failure;
        };

    assertThatThrownBy(() -> fixture.initialize(SCRIPTED, initialize("2025-11-25"), OPENER))
        .isSameAs(failure);
    assertThat(fixture.store.count()).isZero();
  }

  /** Clients of Streamable HTTP refused it from servers over stdio and HTTP with SSE. */
  @Test
  void shouldNotNameAVersionWithoutStreamableHttp() {
    assertThat(named("2024-11-05", "2025-11-25")).contains("\"2025-11-25\"");
    assertThat(named("2024-11-05", "2025-06-18")).contains("\"2025-06-18\"");
  }

  /** The server may take no batches, and the client may know no later version. */
  @Test
  void shouldNotNameAVersionWithBatchesForTheServer() {
    assertThat(named("2024-11-05", "2025-03-26")).contains("\"2024-11-05\"");
    assertThat(named("2024-11-05", "2099-01-01")).contains("\"2024-11-05\"");
    assertThat(named("2025-06-18", "2025-11-25")).contains("\"2025-06-18\"");
  }

  private String named(String chosen, String asked) {
    byte[] result =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\": \"%s\"}}"
            .formatted(chosen)
            .getBytes(UTF_8);
    fixture.scripted.handshake =
        () -> new Handshake(result, ScriptedUpstream.handshake(chosen).link(), List.of());
    SessionOpener.InitializeReply reply = fixture.initialize(SCRIPTED, initialize(asked), OPENER);

    assertThat(Objects.requireNonNull(reply.session()).version().wire()).isEqualTo(chosen);
    return new String(reply.messages().getLast(), UTF_8);
  }

  @Test
  void shouldRejectTheNameOfAnUnknownServer() {
    assertThatThrownBy(() -> fixture.initialize("other", initialize("2025-11-25"), OPENER))
        .isInstanceOf(RelayException.UnknownUpstream.class);
  }

  @Test
  void shouldCloseTheServersSessionWhenItsVersionIsUnknown() {
    fixture.scripted.handshake = () -> ScriptedUpstream.handshake("1999-01-01");

    assertThatThrownBy(() -> fixture.initialize(SCRIPTED, initialize("1999-01-01"), OPENER))
        .isInstanceOf(RelayException.UnsupportedVersion.class);
    assertThat(fixture.scripted.ended).hasValue(1);
    assertThat(fixture.store.count()).isZero();
  }

  @Test
  void shouldCloseTheServersSessionWhenThereAreTooMany() {
    for (int i = 0; i < RelayFixture.MAX_SESSIONS; i++) {
      fixture.open(SCRIPTED);
    }

    assertThatThrownBy(() -> fixture.open(SCRIPTED)).isInstanceOf(TooManySessionsException.class);
    assertThat(fixture.scripted.ended).hasValue(1);
    assertThat(fixture.heard.sessions).hasValue(RelayFixture.MAX_SESSIONS);
  }

  /** Otherwise it would count against the limit until it expired, and end a second time then. */
  @Test
  void shouldNotRecordASessionWithoutALog() {
    fixture.log.away = true;

    assertThatThrownBy(() -> fixture.open(SCRIPTED))
        .isInstanceOf(LogException.StoreUnavailable.class);
    assertThat(fixture.store.count()).isZero();
    assertThat(fixture.scripted.ended).hasValue(1);
    assertThat(fixture.heard.sessions).hasValue(0);
  }

  @Test
  void shouldNotFindASessionOfAnotherServer() {
    Session session = fixture.open(LOCAL);

    assertThatThrownBy(() -> fixture.find(SCRIPTED, session.id()))
        .isInstanceOf(RelayException.SessionNotFound.class);
    assertThatThrownBy(() -> fixture.find(LOCAL, SessionId.random()))
        .isInstanceOf(RelayException.SessionNotFound.class);
  }

  @Test
  void shouldEndASessionEverywhereAndOnce() {
    ScriptedSource source = fixture.scripted.answerWithStream();
    Session session = fixture.open(SCRIPTED);
    TestConnection client = fixture.follow(session, RelayFixture.call("1", "t"));
    client.await(c -> !c.text().isEmpty());

    fixture.sessions.end(session);
    fixture.sessions.end(session);

    client.awaitEnd();
    assertThat(client.data()).isEmpty();
    assertThat(source.isClosed()).isTrue();
    assertThat(fixture.scripted.ended).hasValue(1);
    assertThat(fixture.heard.ended).hasValue(1);
    assertThatThrownBy(() -> fixture.find(SCRIPTED, session.id()))
        .isInstanceOf(RelayException.SessionNotFound.class);
  }

  /** No client returns to a session without a record. */
  @Test
  void shouldEndTheServersSessionEvenWhenTheLogIsAway() {
    ScriptedSource source = fixture.scripted.answerWithStream();
    Session session = fixture.open(SCRIPTED);
    Tail _ = fixture.request(session, RelayFixture.call("1", "t"));
    fixture.log.away = true;

    assertThatThrownBy(() -> fixture.sessions.end(session))
        .isInstanceOf(LogException.StoreUnavailable.class);

    assertThat(source.isClosed()).isTrue();
    assertThat(fixture.scripted.ended).hasValue(1);
    assertThat(fixture.heard.ended).hasValue(1);
  }

  /**
   * A pump learns from its next append that its session ended on another replica. The pump of a
   * silent server that does not end its stream never learned it.
   */
  @Test
  void shouldStopThePumpsOfASessionThatEndedOnAnotherReplica() {
    ScriptedSource source = fixture.scripted.answerWithStream();
    Session ended = fixture.open(SCRIPTED);
    TestConnection client = fixture.follow(ended, RelayFixture.call("1", "t"));
    client.await(c -> !c.text().isEmpty());
    ScriptedSource other = fixture.scripted.answerWithStream();
    Session alive = fixture.open(SCRIPTED);
    Tail _ = fixture.request(alive, RelayFixture.call("1", "t"));

    fixture.store.end(ended.id());
    fixture.stopPumpsOfEndedSessions();

    client.awaitEnd();
    assertThat(client.data()).isEmpty();
    assertThat(source.isClosed()).isTrue();
    assertThat(other.isClosed()).isFalse();
    fixture.sessions.end(alive);
  }

  @Test
  void shouldEndExpiredSessionsOnce() {
    fixture.openAndUse(SCRIPTED);
    fixture.openAndUse(SCRIPTED);
    fixture.pass(RelayFixture.IDLE.minusMillis(1));
    fixture.housekeeping.sweep();
    assertThat(fixture.scripted.ended).hasValue(0);

    fixture.pass(Duration.ofMillis(1));
    fixture.housekeeping.sweep();
    fixture.housekeeping.sweep();

    assertThat(fixture.scripted.ended).hasValue(2);
    assertThat(fixture.heard.ended).hasValue(2);
    assertThat(fixture.store.count()).isZero();
  }

  @Test
  void shouldEndAllExpiredSessionsEvenWhenTheLogIsAway() {
    fixture.open(SCRIPTED);
    fixture.open(SCRIPTED);
    fixture.pass(RelayFixture.IDLE);
    fixture.log.away = true;

    assertThatThrownBy(fixture.housekeeping::sweep)
        .isInstanceOf(LogException.StoreUnavailable.class);

    assertThat(fixture.scripted.ended).hasValue(2);
  }

  private Session recorded(String upstream, @Nullable String theirs) {
    Session session =
        SampleSession.of(
            SessionId.random(),
            upstream,
            theirs,
            ProtocolVersion.V2025_11_25,
            "c/9",
            fixture.clock.instant(),
            OPENER.share(),
            Principal.ANONYMOUS);
    fixture.store.create(session);
    fixture.log.begin(new LogKey(session.id().value()), "");
    return session;
  }

  /**
   * A changed configuration, or that of a command, may give the name of a server to another server
   * or to none. The log of the session ends in any case.
   */
  @ParameterizedTest
  @CsvSource({
    "local,",
    "local, 6b1f0c0e-7a25-4d0c-9a0b-3f3f2b1d8e11",
    "taken-out, 6b1f0c0e-7a25-4d0c-9a0b-3f3f2b1d8e11",
  })
  void shouldEndASessionWhoseServerIsNotConfigured(String upstream, @Nullable String theirs) {
    Session stranger = recorded(upstream, theirs);
    Session ours = fixture.open(LOCAL);

    assertThat(fixture.sessions.end(stranger)).isEqualTo(new Sessions.EndReport(1, 1));
    assertThat(fixture.sessions.end(stranger)).isEqualTo(Sessions.EndReport.NONE);
    assertThat(fixture.sessions.end(ours)).isEqualTo(new Sessions.EndReport(1, 0));

    assertThat(fixture.store.count()).isZero();
    assertThat(fixture.heard.ended).hasValue(2);
  }

  @Test
  void shouldNotUseAServerThatDidNotOpenTheSession() {
    Session stranger = recorded(LOCAL, null);

    assertThatThrownBy(() ->
            fixture.send(
                stranger, RelayFixture.body(RelayFixture.ping("1")), Caller.UNKNOWN, () -> {}))
        .isInstanceOf(RelayException.SessionNotFound.class);
  }

  /** No other sweep finds the sessions that the store returned together with it. */
  @Test
  void shouldEndAllExpiredSessionsWhenOneFails() {
    recorded(LOCAL, null);
    fixture.open(SCRIPTED);
    fixture.open(SCRIPTED);
    AtomicInteger attached = new AtomicInteger();
    fixture.scripted.onAttach =
        () -> {
          if (attached.getAndIncrement() == 0) {
            throw new IllegalStateException("not for this one");
          }
        };
    fixture.pass(RelayFixture.IDLE);

    assertThat(fixture.housekeeping.sweep()).isEqualTo(new Sessions.EndReport(3, 1));

    assertThat(fixture.scripted.ended).hasValue(1);
    assertThat(fixture.heard.ended).hasValue(3);
    assertThat(fixture.store.count()).isZero();
  }

  @Test
  void shouldKeepASessionThatIsUsed() {
    Session session = fixture.openAndUse(SCRIPTED);
    for (int i = 0; i < 5; i++) {
      fixture.pass(RelayFixture.IDLE.minusMinutes(1));
      assertThatCode(() -> fixture.find(SCRIPTED, session.id())).doesNotThrowAnyException();
      fixture.housekeeping.sweep();
    }

    assertThat(fixture.heard.ended).hasValue(0);
  }

  /** Opening a session costs a client nothing, so unused ones go first. */
  @Test
  void shouldMakeRoomByEndingSessionsThatWereNeverUsed() {
    Session used = fixture.openAndUse(SCRIPTED);
    for (int i = 1; i < RelayFixture.MAX_SESSIONS; i++) {
      fixture.open(SCRIPTED);
    }
    assertThatThrownBy(() -> fixture.open(SCRIPTED)).isInstanceOf(TooManySessionsException.class);

    fixture.pass(Session.OPENING_TIMEOUT);
    fixture.open(SCRIPTED);
    fixture.housekeeping.sweep();

    assertThat(fixture.heard.ended).hasValue(RelayFixture.MAX_SESSIONS - 1);
    assertThat(fixture.find(SCRIPTED, used.id())).isEqualTo(used);
  }

  private SessionActivity activity(Session session) {
    return fixture.store.list(null, 10).entries().stream()
        .filter(entry -> entry.session().equals(session))
        .findFirst()
        .orElseThrow()
        .activity();
  }

  @Test
  void shouldSaveActivityWithTheNextUse() {
    Session session = fixture.open(SCRIPTED);
    fixture.sessions.count(session, "192.0.2.1", false);
    fixture.sessions.count(session, "192.0.2.1", true);
    assertThat(activity(session).requests()).isZero();

    fixture.pass(Duration.ofSeconds(1));
    fixture.find(SCRIPTED, session.id());

    assertThat(activity(session))
        .isEqualTo(new SessionActivity(fixture.clock.instant(), "192.0.2.1", 3, 1));
  }

  @Test
  void shouldSaveActivityWithASweepAndOnce() {
    Session session = fixture.open(SCRIPTED);
    fixture.sessions.count(session, "192.0.2.1", false);

    fixture.housekeeping.sweep();
    fixture.housekeeping.sweep();

    assertThat(activity(session).requests()).isEqualTo(2);
  }

  /** Saving activity must not keep an unused session alive. */
  @Test
  void shouldNotTouchASessionInASweep() {
    Session session = fixture.openAndUse(SCRIPTED);
    fixture.sessions.count(session, "192.0.2.1", false);
    fixture.pass(RelayFixture.IDLE.minusMillis(1));
    fixture.housekeeping.sweep();
    fixture.pass(Duration.ofMillis(1));

    fixture.housekeeping.sweep();

    assertThat(fixture.heard.ended).hasValue(1);
    assertThat(fixture.heard.lifetimes).containsExactly(RelayFixture.IDLE);
    assertThat(session.created()).isBefore(fixture.clock.instant());
  }

  @Test
  void shouldCountNothingForASessionThatHasEnded() {
    Session session = fixture.open(SCRIPTED);
    fixture.sessions.end(session);

    fixture.sessions.count(session, "192.0.2.1", false);
    fixture.housekeeping.sweep();

    assertThat(fixture.store.count()).isZero();
  }
}
