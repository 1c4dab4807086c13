package dev.holdfast.relay.failover;

import static dev.holdfast.relay.RelayFixture.OPENER;
import static dev.holdfast.relay.RelayFixture.RESUMING;
import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static dev.holdfast.relay.RelayFixture.body;
import static dev.holdfast.relay.RelayFixture.call;
import static dev.holdfast.relay.RelayFixture.initialize;
import static dev.holdfast.relay.RelayFixture.initialized;
import static dev.holdfast.relay.RelayFixture.ping;
import static dev.holdfast.relay.pump.PumpFixture.PROGRESS;
import static dev.holdfast.relay.pump.PumpFixture.result;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Caller;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.Body;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.RelayFixture;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.relay.ScriptedUpstream;
import dev.holdfast.relay.Settings;
import dev.holdfast.relay.StreamFollower;
import dev.holdfast.relay.legacy.LegacySseRelay;
import dev.holdfast.relay.pump.UpstreamErrors;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DrainTest {

  private static final Duration AT_ONCE = Duration.ZERO;
  private static final Duration NEVER = Duration.ofHours(1);
  private static final String MOVED = "retry: 500\n\n";

  private final ScriptedSource source = new ScriptedSource();
  private final Others others = new Others();
  private @Nullable RelayFixture fixture;

  /** The other replicas, as this replica sees them. */
  private final class Others implements Drain.Handover {
    volatile boolean prepared;
    volatile boolean left;
    volatile boolean asked;
    boolean exist = true;
    boolean takeOver = true;

    @Override
    public void prepare() {
      prepared = true;
    }

    @Override
    public boolean leave() {
      left = true;
      return exist;
    }

    @Override
    public void stopLostPumps() {
      asked = true;
      if (takeOver) {
        fixture().stopAll();
      }
    }

    @Override
    public Duration takeOverTimeout() {
      return takeOver ? NEVER : Duration.ofMillis(100);
    }
  }

  @AfterEach
  void close() {
    fixture().close();
  }

  private RelayFixture fixture() {
    RelayFixture begun = fixture;
    return begun == null ? begin(NEVER) : begun;
  }

  private RelayFixture begin(Duration timeout) {
    RelayFixture begun =
        new RelayFixture(Settings.streams(Map.of("drain-timeout", timeout)), Settings.replay());
    begun.scripted.answer = _ -> new Answer.Stream(source);
    fixture = begun;
    return begun;
  }

  /** Starts to drain. */
  private Thread drain(Drain.@Nullable Handover to) {
    Drain drain = fixture().drain(to);
    Thread draining = Thread.ofVirtual().start(drain::run);
    await().until(fixture().relay::isDraining);
    return draining;
  }

  private static void refuses(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(RelayException.Draining.class);
  }

  @Test
  void shouldMoveClientsThatResumeAndContinueTheirCalls() throws Exception {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      Session session = fixture().open(SCRIPTED, RESUMING);
      TestConnection client = fixture().follow(session, call("1", "t"));
      source.bring(PROGRESS);
      client.await(c -> c.data().size() == 1);

      Thread draining = drain(others);
      client.awaitEnd();

      assertThat(client.text()).endsWith(MOVED);
      assertThat(others.prepared).isTrue();
      assertThat(others.left).isFalse();
      assertThat(draining.isAlive()).isTrue();
      source.bring(result("1"));
      draining.join();
      assertThat(others.left).isTrue();
      assertThat(fixture().logged(session, client)).containsExactly(PROGRESS, result("1"));
      log.await("drained connections=0");
    }
  }

  /** Such a client waited for ever: its stream ended at once, and its call here later. */
  @Test
  void shouldServeClientsThatMayNotResumeToTheEndOfTheirCalls() throws Exception {
    Session session = fixture().open(SCRIPTED);
    fixture().scripted.listen = () -> Optional.of(new ScriptedSource());
    TestConnection listening =
        LogFixture.run(fixture().follower.listen(session, false), new TestConnection());
    TestConnection client = fixture().follow(session, call("1", "t"));
    client.await(c -> !c.text().isEmpty());

    Thread draining = drain(others);
    listening.awaitEnd();
    source.bring(PROGRESS).bring(result("1"));
    draining.join();

    assertThat(listening.text()).endsWith(MOVED);
    assertThat(client.data()).containsExactly(PROGRESS, result("1"));
    assertThat(client.text()).doesNotContain(MOVED);
  }

  @Test
  void shouldMoveAClientThatHasResumedBefore() {
    Session session = fixture().open(SCRIPTED);
    TestConnection first = fixture().follow(session, call("1", "t"));
    source.bring(PROGRESS);
    first.await(c -> c.data().size() == 1);
    TestConnection resumed = resume(session, first);
    resumed.await(c -> !c.text().isEmpty());
    fixture().scripted.answer = _ -> new Answer.Stream(new ScriptedSource());
    TestConnection second = fixture().follow(session, call("2", "t"));

    drain(others);
    resumed.awaitEnd();
    second.awaitEnd();

    assertThat(second.text()).endsWith(MOVED);
  }

  private TestConnection resume(Session session, TestConnection client) {
    EventId last = EventId.parse(client.lastId()).orElseThrow();
    return LogFixture.run(
        fixture().follower.resume(session, last, null).orElseThrow(), new TestConnection());
  }

  /** Some clients give up after a refusal, or after a second stream that ends at once. */
  @Test
  void shouldServeAClientThatResumesHere() throws Exception {
    Session session = fixture().open(SCRIPTED, RESUMING);
    TestConnection moved = fixture().follow(session, call("1", "t"));
    Thread draining = drain(others);
    moved.awaitEnd();
    await().untilAsserted(() -> refuses(() -> fixture().relay.enter(SCRIPTED, null, OPENER)));

    TestConnection back = resume(session, moved);
    source.bring(PROGRESS).bring(result("1"));
    draining.join();

    assertThat(back.data()).containsExactly(PROGRESS, result("1"));
  }

  /** Another replica has the call now: the client may go there. */
  @Test
  void shouldEndTheStreamsOfCallsThatAnotherReplicaContinues() throws Exception {
    Session session = begin(AT_ONCE).open(SCRIPTED);
    TestConnection client = fixture().follow(session, call("1", "t"));
    source.bring(PROGRESS);
    client.await(c -> c.data().size() == 1);

    drain(others).join();

    assertThat(client.text()).endsWith(MOVED);
  }

  @Test
  void shouldRefuseNewRequests() throws Exception {
    Session session = fixture().open(SCRIPTED, RESUMING);
    TestConnection client = fixture().follow(session, call("1", "t"));
    StreamFollower follower = fixture().follower;
    drain(others);
    client.awaitEnd();

    await().untilAsserted(() -> refuses(() -> fixture().relay.enter(SCRIPTED, null, OPENER)));
    refuses(() -> fixture().send(session, body(ping("2")), Caller.UNKNOWN, () -> {}));
    refuses(() -> fixture().initialize(SCRIPTED, initialize("2025-11-25"), OPENER));
    refuses(() -> fixture().send(session, body(call("2", "t")), Caller.UNKNOWN, () -> {}));
    refuses(() -> follower.listen(session, false));
    refuses(() -> follower.listen(session, true));
  }

  /** Opens a session over HTTP+SSE and sets its id. */
  private static TestConnection openOne(LegacySseRelay relay, AtomicReference<SessionId> id) {
    Tail tail =
        relay.open(
            SCRIPTED,
            OPENER,
            opened -> {
              id.set(opened);
              return "/messages";
            });
    return LogFixture.run(tail, new TestConnection());
  }

  /** An event source gives up after a refusal, but reconnects after a short stream. */
  @Test
  void shouldMoveAnEventSourceThatReconnects() throws Exception {
    LegacySseRelay relay = fixture().legacy;
    AtomicReference<SessionId> opened = new AtomicReference<>();
    TestConnection client = openOne(relay, opened);
    Session begun = fixture().findSse(opened.get());
    relay.request(begun, new Body.Single(initialize("2024-11-05")), Caller.UNKNOWN, () -> {});
    client.await(c -> c.text().contains("\"result\""));
    drain(others);
    client.awaitEnd();
    await()
        .untilAsserted(
            () -> refuses(() -> fixture().initialize(SCRIPTED, initialize("2025-11-25"), OPENER)));

    EventId start = EventId.parseWithSession(opened.get().value() + "_m_0-0").orElseThrow();
    Session session = fixture().findSse(opened.get());
    TestConnection again =
        LogFixture.run(relay.resume(session, start, _ -> "/here"), new TestConnection());
    again.awaitEnd();

    assertThat(again.text()).contains("event: endpoint\n", "data: /here\n").endsWith(MOVED);
  }

  /** A load balancer learns only from its next check that a replica is not ready. */
  @Test
  void shouldServeAndMoveClientsThatConnectBeforeThatIsKnown() throws Exception {
    Session session = fixture().open(SCRIPTED, RESUMING);
    TestConnection _ = fixture().follow(session, call("1", "t"));
    drain(others);
    fixture().scripted.answer = _ -> new Answer.Stream(new ScriptedSource());

    TestConnection late = fixture().follow(session, call("2", "t"));
    late.awaitEnd();

    assertThat(late.text()).endsWith(MOVED);
  }

  @Test
  void shouldForwardNotificationsWithoutStartingToListen() {
    Session session = fixture().open(SCRIPTED);
    TestConnection _ = fixture().follow(session, call("1", "t"));
    drain(others);

    fixture().sender.send(session, body(initialized()), Caller.UNKNOWN);

    assertThat(fixture().scripted.sent).hasSize(1);
    assertThat(fixture().scripted.listenedAfter).isEmpty();
  }

  /** The client has sent its request and has no id to resume from. */
  @Test
  void shouldKeepAClientOfAnOlderRevisionUntilItHasAnEventId() {
    Session session = fixture().openAs("2025-06-18");
    TestConnection client = fixture().follow(session, call("1", "t"));
    client.await(c -> !c.text().isEmpty());
    drain(others);
    assertThat(client.hasEnded()).isFalse();

    source.bring(PROGRESS);
    client.awaitEnd();

    assertThat(client.data()).containsExactly(PROGRESS);
    assertThat(client.text()).doesNotContain("retry");
  }

  @Test
  void shouldKeepClientsThatCannotResume() throws Exception {
    fixture =
        new RelayFixture(
            Settings.streams(Map.of("drain-timeout", NEVER)),
            new Settings.Replay(false, NEVER, ReplayConfig.OnGap.ERROR));
    fixture.scripted.answer = _ -> new Answer.Stream(source);
    Session session = fixture.open(SCRIPTED);
    TestConnection client = fixture.follow(session, call("1", "t"));
    Thread draining = drain(others);
    source.bring(PROGRESS).bring(result("1"));

    draining.join();

    assertThat(client.hasEnded()).isTrue();
    assertThat(client.text()).contains(PROGRESS).contains(result("1"));
  }

  @Test
  void shouldWaitForUnloggedRequests() throws Exception {
    Session session = fixture().open(SCRIPTED);
    CountDownLatch answered = new CountDownLatch(1);
    CountDownLatch asked = new CountDownLatch(1);
    fixture().scripted.answer =
        _ -> {
          asked.countDown();
          awaitUninterrupted(answered);
          return new Answer.Json(result("1").getBytes(UTF_8));
        };
    Thread request =
        Thread.ofVirtual()
            .start(() -> fixture().send(session, body(ping("1")), Caller.UNKNOWN, () -> {}));
    asked.await();

    Thread draining = drain(others);
    assertThat(draining.join(Duration.ofMillis(200))).isFalse();
    answered.countDown();

    draining.join();
    request.join();
  }

  @Test
  void shouldHandOverCallsThatStillRunAtTheEnd() throws Exception {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      Session session = begin(AT_ONCE).open(SCRIPTED);
      TestConnection client = fixture().follow(session, call("1", "t"));

      drain(others).join();

      assertThat(others.asked).isTrue();
      assertThat(source.isClosed()).isTrue();
      assertThat(client.hasEnded()).isTrue();
      log.await("other replicas take over streams=1");
    }
  }

  @Test
  void shouldHandOverTheStandaloneStreamWhenNoCallRuns() throws Exception {
    Session session = fixture().open(SCRIPTED);
    fixture().scripted.listen = () -> Optional.of(source);
    TestConnection client =
        LogFixture.run(fixture().follower.listen(session, false), new TestConnection());
    source.bring(PROGRESS);
    client.await(c -> c.data().size() == 1);

    drain(others).join();

    assertThat(client.text()).endsWith(MOVED);
    assertThat(source.isClosed()).isTrue();
  }

  /** The replica that finds the stream later resumes it, or reports that its outcome is unknown. */
  @Test
  void shouldEndNoStreamThatIsNotTakenOver() throws Exception {
    Session session = begin(AT_ONCE).open(SCRIPTED);
    TestConnection client = fixture().follow(session, call("1", "t"));
    others.takeOver = false;

    drain(others).join();
    await().until(() -> !fixture().isPumping(session));

    assertThat(source.isClosed()).isTrue();
    assertThat(fixture().logged(session, client)).isEmpty();
  }

  @Test
  void shouldNotWaitForATakeOverWithoutOtherReplicas() throws Exception {
    TestConnection _ = begin(AT_ONCE).follow(fixture().open(SCRIPTED), call("1", "t"));
    others.exist = false;

    drain(others).join();

    assertThat(others.asked).isFalse();
    assertThat(source.isClosed()).isTrue();
  }

  @Test
  void shouldReturnAtOnceWhenNothingIsOpen() throws Exception {
    drain(others).join();

    assertThat(others.left).isTrue();
  }

  @Test
  void shouldServeRunningCallsToTheirEndWithoutASharedLog() throws Exception {
    Session session = fixture().open(SCRIPTED);
    fixture().scripted.listen = () -> Optional.of(new ScriptedSource());
    TestConnection listening =
        LogFixture.run(fixture().follower.listen(session, false), new TestConnection());
    TestConnection client = fixture().follow(session, call("1", "t"));
    source.bring(PROGRESS);
    client.await(c -> c.data().size() == 1);

    Thread draining = drain(null);
    listening.awaitEnd();
    client.leave();
    EventId last = EventId.parse(client.lastId()).orElseThrow();
    TestConnection back =
        LogFixture.run(
            fixture().follower.resume(session, last, null).orElseThrow(), new TestConnection());
    source.bring(result("1"));
    draining.join();

    assertThat(listening.text()).endsWith(MOVED);
    assertThat(back.data()).containsExactly(result("1"));
    refuses(() -> fixture().follower.listen(session, false));
  }

  @Test
  void shouldServeASharedStreamToTheEndOfItsCallsWithoutASharedLog() throws Exception {
    LegacySseRelay relay = fixture().legacy;
    AtomicReference<SessionId> id = new AtomicReference<>();
    TestConnection client = openOne(relay, id);
    fixture().scripted.handshake = () -> ScriptedUpstream.handshake("2024-11-05");
    relay.request(
        fixture().findSse(id.get()),
        new Body.Single(RelayFixture.initialize("2024-11-05")),
        Caller.UNKNOWN,
        () -> {});
    client.await(c -> c.data().size() == 1);
    Session session = fixture().findSse(id.get());
    relay.request(session, RelayFixture.body(call("1", "t")), Caller.UNKNOWN, () -> {});
    source.bring(PROGRESS);
    client.await(c -> c.data().size() == 2);

    Thread draining = drain(null);
    refuses(
        () -> relay.request(session, RelayFixture.body(call("2", "t")), Caller.UNKNOWN, () -> {}));
    assertThat(client.hasEnded()).isFalse();
    source.bring(result("1"));
    draining.join();

    assertThat(client.data()).endsWith(PROGRESS, result("1"));
    assertThat(client.text()).endsWith(MOVED);
  }

  @Test
  void shouldEndRunningCallsWithAnErrorWithoutASharedLog() throws Exception {
    Session session = begin(AT_ONCE).open(SCRIPTED);
    TestConnection client = fixture().follow(session, call("1", "t"));

    drain(null).join();

    assertThat(client.hasEnded()).isTrue();
    assertThat(client.data()).hasSize(1);
    assertThat(client.data().getFirst())
        .contains("\"id\":1")
        .contains(UpstreamErrors.GATEWAY_STOPPED);
  }

  @Test
  void shouldEndCallsThatTheServerHasNotAnsweredWithAnError() throws Exception {
    Session session = begin(AT_ONCE).open(SCRIPTED);
    fixture().scripted.answer =
        _ -> {
          awaitUninterrupted(new CountDownLatch(1));
          throw new UpstreamException.Broken("interrupted", null);
        };
    TestConnection client = fixture().follow(session, call("1", "t"));

    drain(null).join();

    assertThat(client.data().getFirst()).contains(UpstreamErrors.GATEWAY_STOPPED);
  }

  /** Behaves as a server behind HTTP: it fails and leaves the thread interrupted. */
  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
