package dev.holdfast.relay;

import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static dev.holdfast.relay.RelayFixture.body;
import static dev.holdfast.relay.RelayFixture.initialized;
import static dev.holdfast.relay.pump.PumpFixture.PROGRESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Caller;
import dev.holdfast.log.LogException;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RelayListenTest {

  private final RelayFixture fixture =
      new RelayFixture(
          Settings.streams(Map.of("keep-alive", Duration.ofMillis(10))), Settings.replay());
  private final ScriptedSource source = new ScriptedSource();
  private final AtomicInteger opened = new AtomicInteger();

  @BeforeEach
  void listenTo() {
    fixture.scripted.listen =
        () -> {
          opened.incrementAndGet();
          return Optional.of(source);
        };
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldDeliverMessagesOutsideOfRequests() {
    Session session = fixture.open(SCRIPTED);
    TestConnection client =
        LogFixture.run(fixture.follower.listen(session, false), new TestConnection());

    source.bring(PROGRESS);
    client.await(c -> c.data().size() == 1);

    assertThat(client.data()).containsExactly(PROGRESS);
    assertThat(client.events().getFirst().id()).startsWith("g_");
  }

  /** A client that only listens learned of it in no other way, and waited for ever. */
  @Test
  void shouldEndTheSessionThatTheServerHasEnded() throws Exception {
    Session session = fixture.open(SCRIPTED);
    TestConnection client =
        LogFixture.run(fixture.follower.listen(session, false), new TestConnection());
    source.bring(PROGRESS);
    client.await(c -> c.data().size() == 1);

    source.fail(new UpstreamException.SessionGone());
    client.awaitEnd();

    assertThatThrownBy(() -> fixture.find(SCRIPTED, session.id()))
        .isInstanceOf(RelayException.SessionNotFound.class);
  }

  @Test
  void shouldSayThatASessionCouldNotBeEnded() {
    Session session = fixture.open(SCRIPTED);
    TestConnection client =
        LogFixture.run(fixture.follower.listen(session, false), new TestConnection());
    source.bring(PROGRESS);
    client.await(c -> c.data().size() == 1);
    try (LoggedLines log = new LoggedLines(Sessions.class)) {
      fixture.log.away = true;
      source.fail(new UpstreamException.SessionGone());

      log.await("session not ended session=" + session.id());
    }
  }

  @Test
  void shouldSayThatAnExpiredSessionCouldNotBeEnded() {
    try (LoggedLines log = new LoggedLines(Sessions.class)) {
      Session unlogged = fixture.open(SCRIPTED);
      fixture.log.away = true;
      fixture.now.addAndGet(RelayFixture.IDLE.toMillis());
      assertThatThrownBy(fixture.housekeeping::sweep)
          .isInstanceOf(LogException.StoreUnavailable.class);
      log.await("log of expired session not ended session=" + unlogged.id());
      fixture.log.away = false;

      Session broken = fixture.open(SCRIPTED);
      fixture.log.beforeEnd =
          () -> {
            throw new IllegalStateException("planted");
          };
      fixture.now.addAndGet(RelayFixture.IDLE.toMillis());
      assertThat(fixture.housekeeping.sweep().sessions()).isOne();
      log.await("expired session not ended completely session=" + broken.id());
    }
  }

  @Test
  void shouldListenToTheServerOnce() {
    Session session = fixture.open(SCRIPTED);

    fixture.sender.send(session, body(initialized()), Caller.UNKNOWN);
    fixture.sender.send(session, body("[" + initialized() + "]"), Caller.UNKNOWN);
    Tail _ = fixture.follower.listen(session, false);
    Tail tail = fixture.follower.listen(session, true);
    source.bring(PROGRESS);
    LogFixture.run(tail, new TestConnection()).await(c -> c.data().size() == 1);

    assertThat(opened).hasValue(1);
  }

  @Test
  void shouldKeepMessagesFromBeforeTheClientListens() {
    Session session = fixture.open(SCRIPTED);
    source.bring(PROGRESS);
    fixture.sender.send(session, body(initialized()), Caller.UNKNOWN);
    await().until(() -> fixture.heard.appended.get() == 1);

    TestConnection client =
        LogFixture.run(fixture.follower.listen(session, false), new TestConnection());

    client.await(c -> c.data().size() == 1);
  }

  /** The first failure once ended the standalone stream for the whole session. */
  @Test
  void shouldListenAgainWhenTheServerWasUnreachable() {
    fixture.scripted.listen =
        () -> {
          if (opened.incrementAndGet() == 1) {
            throw new UpstreamException.Unreachable(null);
          }
          return Optional.of(source);
        };
    Session session = fixture.open(SCRIPTED);
    TestConnection client =
        LogFixture.run(fixture.follower.listen(session, false), new TestConnection());

    source.bring(PROGRESS);

    client.await(c -> c.data().size() == 1);
    assertThat(opened).hasValue(2);
  }

  @Test
  void shouldStopListeningWhenTheSessionEnds() {
    Session session = fixture.open(SCRIPTED);
    TestConnection client =
        LogFixture.run(fixture.follower.listen(session, false), new TestConnection());
    await().until(() -> opened.get() == 1);

    fixture.sessions.end(session);

    client.awaitEnd();
    await().until(source::isClosed);
    assertThatThrownBy(() -> fixture.follower.listen(session, false))
        .isInstanceOf(LogException.SessionEnded.class);
  }

  @Test
  void shouldKeepASessionAliveWhileAClientListens() {
    Session session = fixture.openAndUse(SCRIPTED);
    TestConnection client =
        LogFixture.run(fixture.follower.listen(session, false), new TestConnection());
    client.await(c -> c.text().contains(": "));
    for (int i = 0; i < 3; i++) {
      fixture.pass(RelayFixture.IDLE.minusMinutes(1));
      fixture.keep();
    }
    fixture.housekeeping.sweep();

    assertThat(fixture.heard.ended).hasValue(0);
    assertThat(fixture.find(SCRIPTED, session.id())).isEqualTo(session);
  }
}
