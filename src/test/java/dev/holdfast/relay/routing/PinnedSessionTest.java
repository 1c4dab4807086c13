package dev.holdfast.relay.routing;

import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static dev.holdfast.relay.RelayFixture.OPENER;
import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static dev.holdfast.relay.RelayFixture.body;
import static dev.holdfast.relay.RelayFixture.call;
import static dev.holdfast.relay.RelayFixture.initialized;
import static dev.holdfast.relay.RelayFixture.ping;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Caller;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.relay.RelayFixture;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.relay.ScriptedUpstream;
import dev.holdfast.relay.session.PinnedServer;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.session.Session;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sessions that are pinned to one replica. */
@Timeout(30)
class PinnedSessionTest {

  private static final String RESULT = "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}";
  private static final String SAID = "{\"jsonrpc\":\"2.0\",\"method\":\"said\"}";

  /** A message that is not so small that it always has room. */
  private static final String ANOTHER = SAID + " ".repeat(20_000);

  private final RelayFixture fixture = new RelayFixture();

  /** The server's messages outside of requests, one source per process of the server. */
  private final BlockingQueue<ScriptedSource> unasked = new LinkedBlockingQueue<>();

  @BeforeEach
  void keepSessions() {
    fixture.scripted.keeping = true;
    fixture.scripted.listen = () -> Optional.<MessageSource>of(alive());
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private ScriptedSource alive() {
    ScriptedSource source = new ScriptedSource();
    unasked.add(source);
    return source;
  }

  private ScriptedSource nextLife() throws InterruptedException {
    ScriptedSource source = unasked.poll(20, TimeUnit.SECONDS);
    assertThat(source).isNotNull();
    return source;
  }

  private Session open() {
    return fixture.open(SCRIPTED);
  }

  /** A session that is pinned to another replica. */
  private Session elsewhere() {
    Session session = open();
    fixture.stopAll();
    await().until(() -> !fixture.isPumping(session));
    fixture.inbox.owned = true;
    return session;
  }

  private static StreamRef ref(Session session, String stream) {
    return new StreamRef(new LogKey(session.id().value()), stream);
  }

  private List<String> written(StreamRef stream) {
    return payloads(readAll(fixture.log, stream, Position.START));
  }

  private boolean hasEnded(StreamRef stream) {
    return fixture.log.read(stream, Position.START, 10) instanceof ReadResult.Events(var events)
        && !events.isEmpty()
        && events.getLast().last();
  }

  private List<String> sent() {
    return fixture.scripted.sent.stream().map(Body::bytes).map(String::new).toList();
  }

  @Test
  void shouldWriteTheStandaloneStreamFromTheStartOfTheSession() throws Exception {
    Session session = open();

    nextLife().bring(SAID);

    await().until(() -> written(ref(session, "g")).equals(List.of(SAID)));
  }

  @Test
  void shouldEndTheServerWithTheSession() {
    Session session = open();
    int before = fixture.scripted.ended.get();

    fixture.inbox.end(new LogKey(session.id().value()));

    await().until(() -> !fixture.isPumping(session));
    assertThat(fixture.scripted.ended.get()).isGreaterThan(before);
  }

  @Test
  void shouldForwardMessagesToTheReplicaOfTheSession() {
    Session session = elsewhere();

    Reply called = fixture.send(session, body(call("7", "t")), Caller.UNKNOWN, () -> {});
    Reply pinged = fixture.send(session, body(ping("8")), Caller.UNKNOWN, () -> {});
    fixture.sender.send(session, body(initialized()), Caller.UNKNOWN);

    assertThat(called).isInstanceOf(Reply.Stream.class);
    assertThat(pinged).isInstanceOf(Reply.Stream.class);
    assertThat(fixture.inbox.asked).containsExactly("g 7 " + call("7", "t"), "g 8 " + ping("8"));
    assertThat(fixture.inbox.put).containsExactly("g " + initialized());
    assertThat(sent()).isEmpty();
    assertThat(fixture.store.find(session.id())).isPresent();
  }

  @Test
  void shouldEndASessionThatIsNoLongerPinned() {
    Session session = elsewhere();
    fixture.inbox.owned = false;

    assertThatExceptionOfType(RelayException.SessionNotFound.class)
        .isThrownBy(() -> fixture.send(session, body(ping("8")), Caller.UNKNOWN, () -> {}));

    assertThat(fixture.store.find(session.id())).isEmpty();
  }

  @Test
  void shouldRefuseToListenToASessionThatIsNoLongerPinned() {
    Session session = elsewhere();
    fixture.inbox.owned = false;

    assertThatExceptionOfType(RelayException.SessionNotFound.class)
        .isThrownBy(() -> fixture.follower.listen(session, false));
  }

  @Test
  void shouldAnswerARequestFromAnotherReplica() {
    Session session = open();
    StreamWriter writer = fixture.log.open(ref(session, "a"), "7");
    fixture.scripted.answer = _ -> new Answer.Stream(new ScriptedSource().bring(SAID, RESULT));

    fixture.inbox.putRequest(writer, call("7", "t"));

    await().until(() -> written(writer.stream()).equals(List.of(SAID, RESULT)));
  }

  /** A message that another replica answered with 202 must arrive before the next message here. */
  @Test
  void shouldKeepTheOrderOfMessagesThroughSeveralReplicas() {
    Session session = open();
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      String there = "{\"jsonrpc\":\"2.0\",\"method\":\"there" + i + "\"}";
      String here = "{\"jsonrpc\":\"2.0\",\"method\":\"here" + i + "\"}";
      fixture.inbox.leave(ref(session, "g"), there);

      fixture.sender.send(session, body(here), Caller.UNKNOWN);

      expected.addAll(List.of(there, here));
    }
    assertThat(sent()).isEqualTo(expected);
  }

  @Test
  void shouldEndTheStandaloneStreamWhenTheServerIsLost() throws Exception {
    Session session = open();

    nextLife().fail(new UpstreamException.SessionGone());

    await().until(() -> hasEnded(ref(session, "g")));
    assertThatExceptionOfType(RelayException.SessionNotFound.class)
        .isThrownBy(() -> fixture.sender.send(session, body(initialized()), Caller.UNKNOWN));
    assertThat(fixture.store.find(session.id())).isEmpty();
  }

  @Test
  void shouldSettleRequestsToAnOwnerThatIsGone() throws Exception {
    Session session = open();
    StreamWriter writer = fixture.log.open(ref(session, "a"), "7");
    nextLife().fail(new UpstreamException.SessionGone());
    await().until(() -> !fixture.isPumping(session));

    fixture.inbox.putRequest(writer, call("7", "t"));

    await().until(() -> hasEnded(writer.stream()));
    assertThat(written(writer.stream()).getFirst()).contains("\"id\":7", "\"error\"");
  }

  @Test
  void shouldLeaveAnInboxMessageForTheNextReplica() {
    Session session = elsewhere();

    assertThatExceptionOfType(LogException.StoreUnavailable.class)
        .isThrownBy(() -> fixture.inbox.bring(ref(session, "g"), SAID));
  }

  @Test
  void shouldReopenTheServerAndContinue() throws Exception {
    fixture.scripted.reopening = true;
    Session session = open();
    fixture.sender.send(session, body(initialized()), Caller.UNKNOWN);

    nextLife().fail(new UpstreamException.SessionGone());
    nextLife().bring(SAID);

    await().until(() -> written(ref(session, "g")).equals(List.of(SAID)));
    assertThat(fixture.scripted.reopened).containsExactly("initialize true");
    fixture.sender.send(session, body(SAID), Caller.UNKNOWN);
    assertThat(sent()).containsExactly(initialized(), SAID);
  }

  /** The server has not seen the request, so the client may retry. With 404 it would give up. */
  @Test
  void shouldBeBusyWhileAServerReopens() {
    fixture.scripted.reopening = true;
    Session session = open();
    fixture.scripted.sendFailure = new UpstreamException.SessionGone();
    fixture.scripted.answer =
        _ -> {
          throw new UpstreamException.SessionGone();
        };

    assertThatExceptionOfType(UpstreamException.Busy.class)
        .isThrownBy(() -> fixture.send(session, body(ping("8")), Caller.UNKNOWN, () -> {}));
    assertThatExceptionOfType(UpstreamException.Busy.class)
        .isThrownBy(() -> fixture.sender.send(session, body(SAID), Caller.UNKNOWN));

    assertThat(fixture.store.find(session.id())).isPresent();
  }

  @Test
  void shouldEndTheSessionWhenTheServerRefusesToReopen() throws Exception {
    fixture.scripted.reopening = true;
    fixture.scripted.onReopen =
        () -> {
          throw new UpstreamException.SessionGone();
        };
    Session session = open();

    nextLife().fail(new UpstreamException.SessionGone());

    await().until(() -> hasEnded(ref(session, "g")));
    assertThat(fixture.scripted.reopened).containsExactly("initialize false");
  }

  /** The record of a session has a bound. A session above it works, but is not reopened. */
  @Test
  @Tag("long")
  void shouldEndASessionWhoseServerIsLostAgainAndAgain() throws Exception {
    fixture.scripted.reopening = true;
    Session session = open();
    try (LoggedLines log = new LoggedLines(PinnedSession.class)) {
      for (int i = 0; i < 5; i++) {
        nextLife().fail(new UpstreamException.SessionGone());
      }
      nextLife().fail(new UpstreamException.SessionGone());

      log.await("session ends, its server was lost too often session=" + session.id());
      await().until(() -> hasEnded(ref(session, "g")));
    }
  }

  @Test
  void shouldNotReopenASessionWithATooLargeInitialize() throws Exception {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      fixture.scripted.reopening = true;
      String icon = "x".repeat(PinnedServer.MAX_INITIALIZE_BYTES);
      String initialize =
          """
          {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",
           "clientInfo":{"name":"c","version":"9","icons":[{"src":"%s"}]}}}\
          """
              .formatted(icon);
      Body.Single read = (Body.Single) body(initialize);
      Session session =
          Objects.requireNonNull(
              fixture.initialize(SCRIPTED, (Message.Request) read.message(), OPENER).session());

      assertThat(fixture.store.upstreamState(session.id(), "initialize")).isEmpty();
      nextLife().fail(new UpstreamException.SessionGone());

      await().until(() -> hasEnded(ref(session, "g")));
      assertThat(fixture.scripted.reopened).isEmpty();
      log.await("session cannot be reopened, its initialize request is too large session=");
    }
  }

  /** Messages wait while the server starts. */
  @Test
  void shouldSendMessagesFromMeanwhileToTheReopenedServer() throws Exception {
    fixture.scripted.reopening = true;
    CountDownLatch starting = new CountDownLatch(1);
    CountDownLatch started = new CountDownLatch(1);
    fixture.scripted.onReopen =
        () -> {
          starting.countDown();
          try {
            assertThat(started.await(20, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        };
    Session session = open();
    nextLife().fail(new UpstreamException.SessionGone());
    assertThat(starting.await(20, TimeUnit.SECONDS)).isTrue();

    fixture.inbox.bring(ref(session, "g"), SAID);
    assertThat(sent()).isEmpty();
    started.countDown();

    await().until(() -> sent().equals(List.of(SAID)));
  }

  /** The message stays in the store, and later senders get an error. */
  @Test
  void shouldTakeNoMoreMessagesThanItHasRoomFor() {
    CountDownLatch reads = new CountDownLatch(1);
    fixture.scripted.onSend =
        () -> {
          try {
            assertThat(reads.await(20, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        };
    Session session = open();
    StreamRef standalone = ref(session, "g");
    String large = SAID + " ".repeat(PinnedSession.OrderedTasks.MAX_BYTES);

    fixture.inbox.bring(standalone, large);
    assertThatExceptionOfType(LogException.InboxFull.class)
        .isThrownBy(() -> fixture.inbox.bring(standalone, ANOTHER));
    reads.countDown();

    await().until(() -> sent().equals(List.of(large)));
  }

  /** Its pump still has the call, and the next one would come with as many bytes. */
  @Test
  void shouldHoldTheBytesOfACallThatItsServerDoesNotRead() throws Exception {
    CountDownLatch reads = new CountDownLatch(1);
    fixture.scripted.answer =
        _ -> {
          try {
            assertThat(reads.await(20, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          return new Answer.Json(ScriptedUpstream.RESULT);
        };
    Session session = open();
    StreamRef standalone = ref(session, "g");
    String call = call("7", "t");
    String almostAll = call + " ".repeat(PinnedSession.OrderedTasks.MAX_BYTES - 1 - call.length());

    fixture.inbox.putRequest(fixture.log.open(ref(session, "s"), "7"), almostAll);
    fixture.inbox.bring(standalone, SAID);
    await().until(() -> sent().equals(List.of(SAID))); // So the task of the call is over.
    fixture.inbox.putRequest(
        fixture.log.open(ref(session, "t"), "8"), call("8", "t") + " ".repeat(20_000));

    assertThatExceptionOfType(LogException.InboxFull.class)
        .isThrownBy(() -> fixture.inbox.bring(standalone, ANOTHER));
    reads.countDown();
    await().until(() -> hasEnded(ref(session, "s")) && hasEnded(ref(session, "t")));
    fixture.inbox.bring(standalone, SAID);
  }

  @Test
  void shouldEndTheCallsOfALostReplica() {
    Session session = elsewhere();
    Left left = left(session);

    fixture.takeOver(left).takeOver(new LogKey(session.id().value()), "lost");

    await().until(() -> hasEnded(left.standalone) && hasEnded(left.call));
    assertThat(written(left.call).getLast()).contains("\"id\":7", "outcome");
    assertThat(fixture.scripted.reopened).isEmpty();
  }

  @Test
  void shouldPinTheSessionOfALostReplica() throws Exception {
    fixture.scripted.reopening = true;
    Session session = elsewhere();
    Left left = left(session);
    unasked.clear();
    fixture.inbox.leave(left.standalone, SAID);

    fixture.takeOver(left).takeOver(new LogKey(session.id().value()), "lost");

    nextLife().bring(SAID);
    await().until(() -> written(left.standalone).equals(List.of(SAID)));
    await().until(() -> sent().equals(List.of(SAID)));
    assertThat(written(left.call).getLast()).contains("\"id\":7", "outcome");
    assertThat(hasEnded(left.standalone)).isFalse();
  }

  /**
   * The streams of the lost replica. The log begins again, because one in memory adopts nothing.
   */
  private Left left(Session session) {
    String id = session.id().value();
    fixture.log.end(new LogKey(id));
    fixture.log.begin(new LogKey(id), "");
    StreamWriter standalone = fixture.log.open(ref(session, "g"), "");
    StreamWriter call = fixture.log.open(ref(session, "a"), "7");
    return new Left(
        standalone.stream(),
        call.stream(),
        List.of(
            new SharedLog.AdoptedStream(call, "7", null),
            new SharedLog.AdoptedStream(standalone, "", null)));
  }

  private record Left(StreamRef standalone, StreamRef call, List<SharedLog.AdoptedStream> streams)
      implements SharedLog {

    @Override
    public List<SharedLog.AdoptedStream> adopt(LogKey session, String former) {
      return streams;
    }

    @Override
    public Set<StreamRef> findTakenOver(Collection<StreamRef> owned) {
      return Set.of();
    }
  }
}
