package dev.holdfast.relay.session;

import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static dev.holdfast.relay.RelayFixture.call;
import static dev.holdfast.relay.RelayFixture.initialize;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Caller;
import dev.holdfast.log.Position;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.RelayFixture;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.relay.ScriptedUpstream;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamException.Busy.Limit;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sessions that keep a process although no client uses them. */
class AbandonedSessionsTest {

  private static final Duration TIMEOUT = Duration.ofMinutes(5);
  private static final Duration A_MOMENT = Duration.ofSeconds(29);

  private final RelayFixture fixture = new RelayFixture();
  private final ScriptedUpstream server = fixture.scripted;

  @BeforeEach
  void pin() {
    server.keeping = true;
    server.listen = () -> Optional.of(new ScriptedSource());
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldEndASessionThatNobodyUses() {
    Session session = fixture.openAndUse(SCRIPTED);
    fixture.pass(TIMEOUT.minusSeconds(1));
    fixture.endAbandoned(TIMEOUT);
    assertThat(exists(session)).isTrue();

    fixture.pass(Duration.ofSeconds(1));
    fixture.endAbandoned(TIMEOUT);

    assertThat(exists(session)).isFalse();
    assertThat(server.ended).hasPositiveValue();
  }

  /** Other sessions take no process, and cost next to nothing. */
  @Test
  void shouldKeepASessionThatTakesNoPlace() {
    Session session = fixture.openAndUse(SCRIPTED);
    server.keeping = false;
    fixture.pass(TIMEOUT);

    fixture.endAbandoned(TIMEOUT);

    assertThat(exists(session)).isTrue();
  }

  @Test
  void shouldKeepASessionWhoseRequestIsOpen() {
    Session session = fixture.openAndUse(SCRIPTED);
    ScriptedSource answer = server.answerWithStream();
    Tail _ = fixture.request(session, call("1", "slow"));
    fixture.pass(TIMEOUT);
    fixture.endAbandoned(TIMEOUT);
    answer.bring("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}").end();
    await().until(() -> !fixture.isAnswering(session));
    fixture.keep();

    fixture.pass(TIMEOUT.minusSeconds(1));
    fixture.endAbandoned(TIMEOUT);
    assertThat(exists(session)).as("the time begins at the end of the request").isTrue();

    fixture.pass(Duration.ofSeconds(1));
    fixture.endAbandoned(TIMEOUT);
    assertThat(exists(session)).isFalse();
  }

  /** The search may take a while, and its results get old. */
  @Test
  void shouldKeepASessionWhoseRequestBeginsDuringTheSearch() {
    Session one = fixture.openAndUse(SCRIPTED);
    Session two = fixture.openAndUse(SCRIPTED);
    ScriptedSource _ = server.answerWithStream();
    fixture.pass(TIMEOUT);
    AtomicInteger examined = new AtomicInteger();
    server.onPlacement =
        () -> {
          if (examined.incrementAndGet() == 2) {
            Tail _ = fixture.request(one, call("1", "slow"));
            Tail _ = fixture.request(two, call("1", "slow"));
          }
        };

    fixture.endAbandoned(TIMEOUT);

    assertThat(exists(one)).isTrue();
    assertThat(exists(two)).isTrue();
  }

  /** A call may take longer than the idle timeout, and its client may be away meanwhile. */
  @Test
  void shouldNotLetASessionExpireWhoseRequestIsOpen() {
    Session session = fixture.openAndUse(SCRIPTED);
    server.keeping = false;
    ScriptedSource _ = server.answerWithStream();
    Tail _ = fixture.request(session, call("1", "slow"));

    for (int i = 0; i < 4; i++) {
      fixture.pass(RelayFixture.IDLE.dividedBy(2));
      fixture.endAbandoned(TIMEOUT);
      fixture.housekeeping.sweep();
    }

    assertThat(exists(session)).isTrue();
  }

  /** The client comes back when its connection breaks, and must find its session. */
  @Test
  void shouldKeepASessionWhoseClientHasResumed() {
    Session session = fixture.openAndUse(SCRIPTED);
    server.answerWithStream().bring("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}").end();
    TestConnection client = fixture.follow(session, call("1", "quick"));
    client.awaitEnd();
    String stream = client.lastId().substring(0, client.lastId().indexOf('_'));
    EventId first = new EventId(stream, Position.START);
    LogFixture.run(
            fixture.follower.resume(session, first, null).orElseThrow(), new TestConnection())
        .awaitEnd();
    fixture.pass(TIMEOUT);

    fixture.endAbandoned(TIMEOUT);

    assertThat(exists(session)).isTrue();
  }

  @Test
  void shouldMakeRoomForANewSession() {
    Session older = fixture.openAndUse(SCRIPTED);
    fixture.pass(Duration.ofSeconds(1));
    Session newer = fixture.openAndUse(SCRIPTED);
    fixture.pass(Duration.ofSeconds(30));
    refuseWhileTaken(Limit.SESSIONS);

    Session third = fixture.open(SCRIPTED);

    assertThat(exists(older)).isFalse();
    assertThat(exists(newer)).isTrue();
    assertThat(exists(third)).isTrue();
  }

  /** The result of a search serves several new sessions, and is older than these uses. */
  @Test
  void shouldEndTheNextSessionWhenTheLongestUnusedWasUsedAgain() {
    Session older = fixture.openAndUse(SCRIPTED);
    fixture.pass(Duration.ofSeconds(1));
    Session newer = fixture.openAndUse(SCRIPTED);
    fixture.pass(Duration.ofMinutes(1));
    refuseWhileTaken(Limit.SESSIONS_OF_OPENER);
    assertThatExceptionOfType(UpstreamException.Busy.class).isThrownBy(this::openGreedily);
    Session _ = fixture.find(SCRIPTED, older.id());

    Session third = fixture.open(SCRIPTED);

    assertThat(exists(older)).isTrue();
    assertThat(exists(newer)).isFalse();
    assertThat(exists(third)).isTrue();
  }

  /** An end may have to wait for the store and for the server. */
  @Test
  @Timeout(30)
  void shouldNotWaitWhileAnotherClientMakesRoom() throws Exception {
    Session _ = fixture.openAndUse(SCRIPTED);
    fixture.pass(Duration.ofMinutes(1));
    refuseWhileTaken(Limit.SESSIONS);
    // The pump of the session attaches in a thread of its own, before it listens.
    await().until(() -> !server.listenedAfter.isEmpty());
    CountDownLatch ending = new CountDownLatch(1);
    CountDownLatch slow = new CountDownLatch(1);
    server.onAttach =
        () -> {
          ending.countDown();
          awaitUninterruptibly(slow);
        };
    Thread first = Thread.ofVirtual().start(() -> fixture.open(SCRIPTED));
    ending.await();

    assertThatExceptionOfType(UpstreamException.Busy.class).isThrownBy(this::openGreedily);

    slow.countDown();
    first.join();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void openGreedily() {
    var _ =
        fixture.initialize(
            SCRIPTED, initialize("2025-11-25"), Caller.UNKNOWN.at("greedy", "greedy", ""));
  }

  /** A burst of new sessions must not end those that are between two requests. */
  @Test
  void shouldNotMakeRoomByEndingASessionThatWasJustUsed() {
    Session used = fixture.openAndUse(SCRIPTED);
    fixture.pass(A_MOMENT);
    refuseWhileTaken(Limit.SESSIONS);

    assertThatExceptionOfType(UpstreamException.Busy.class)
        .isThrownBy(() -> fixture.open(SCRIPTED))
        .satisfies(busy -> assertThat(busy.retryAfter()).isEqualTo(Duration.ofSeconds(1)));
    assertThat(exists(used)).isTrue();
  }

  /** A client with too many sessions would else end those of others, and gain nothing. */
  @Test
  void shouldEndOnlyItsOwnSessionsForAnOpenerWithItsShare() {
    Session others = fixture.openAndUse(SCRIPTED);
    fixture.pass(Duration.ofMinutes(1));
    refuseWhileTaken(Limit.SESSIONS_OF_OPENER);

    assertThatExceptionOfType(UpstreamException.Busy.class)
        .isThrownBy(this::openGreedily)
        .satisfies(busy -> assertThat(busy.retryAfter()).isEqualTo(Duration.ofSeconds(30)));
    assertThat(exists(others)).isTrue();

    assertThat(exists(fixture.open(SCRIPTED))).isTrue();
    assertThat(exists(others)).as("another one of the same opener").isFalse();
  }

  /** The server has room as soon as it has ended one more session. */
  private void refuseWhileTaken(Limit limit) {
    int ended = server.ended.get();
    server.handshake =
        () -> {
          if (server.ended.get() == ended) {
            throw new UpstreamException.Busy(limit);
          }
          return ScriptedUpstream.handshake("2025-11-25");
        };
  }

  private boolean exists(Session session) {
    return fixture.store.find(Objects.requireNonNull(session).id()).isPresent();
  }
}
