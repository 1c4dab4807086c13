package dev.holdfast.relay;

import static dev.holdfast.relay.RelayFixture.LOCAL;
import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static dev.holdfast.relay.RelayFixture.body;
import static dev.holdfast.relay.RelayFixture.call;
import static dev.holdfast.relay.RelayFixture.cancelled;
import static dev.holdfast.relay.RelayFixture.ping;
import static dev.holdfast.relay.pump.PumpFixture.PROGRESS;
import static dev.holdfast.relay.pump.PumpFixture.result;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.call.Caller;
import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener.MessageKind;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RelayRequestTest {

  private final CountDownLatch running = new CountDownLatch(1);
  private final CountDownLatch interrupted = new CountDownLatch(1);
  private final RelayFixture fixture = new RelayFixture(tool("speak"), tool("hang"));

  private Tool<NoArguments> tool(String name) {
    return new Tool<>() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public String description() {
        return name;
      }

      @Override
      public Class<NoArguments> arguments() {
        return NoArguments.class;
      }

      @Override
      public ToolResult call(NoArguments arguments, ToolCall call) throws InterruptedException {
        call.log(LogLevel.INFO, name, "begun");
        running.countDown();
        try {
          if (name.equals("hang")) {
            new CountDownLatch(1).await();
          }
          return ToolResult.text("done");
        } catch (InterruptedException e) {
          interrupted.countDown();
          throw e;
        }
      }
    };
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldAnswerACallWithADurableStream() {
    Session session = fixture.open(LOCAL);

    TestConnection client = fixture.follow(session, call("1", "speak"));
    client.awaitEnd();

    assertThat(client.data()).hasSize(2);
    assertThat(client.data().getFirst()).contains("\"begun\"");
    assertThat(client.data().getLast()).contains("\"id\":1", "\"done\"");
  }

  @Test
  void shouldReportEveryMessageToTheListener() {
    Session session = fixture.open(LOCAL);
    fixture.sender.send(session, body(RelayFixture.initialized()), Caller.UNKNOWN);

    fixture.follow(session, call("1", "speak")).awaitEnd();
    Reply _ = fixture.send(session, body(ping("2")), Caller.UNKNOWN, () -> {});

    assertThat(fixture.heard.fromClient)
        .containsExactly(
            MessageKind.REQUEST,
            MessageKind.NOTIFICATION,
            MessageKind.REQUEST,
            MessageKind.REQUEST);
    assertThat(fixture.heard.fromUpstream)
        .containsExactly(
            MessageKind.RESPONSE,
            MessageKind.NOTIFICATION,
            MessageKind.RESPONSE,
            MessageKind.RESPONSE);
  }

  @Test
  void shouldContinueWithoutAClient() {
    Session session = fixture.open(LOCAL);
    Tail tail = fixture.request(session, call("1", "speak"));
    TestConnection gone = new TestConnection();
    gone.leave();
    tail.run(gone);

    EventId start = new EventId(tail.stream().name(), Position.START);
    TestConnection client =
        LogFixture.run(
            fixture.follower.resume(session, start, null).orElseThrow(), new TestConnection());
    client.awaitEnd();

    assertThat(client.data()).hasSize(2);
  }

  @Test
  void shouldAnswerWithJsonWhenTheServerDoes() {
    Session session = fixture.open(LOCAL);

    Reply reply = fixture.send(session, body(ping("1")), Caller.UNKNOWN, () -> {});

    assertThat(reply).isInstanceOf(Reply.Json.class);
    assertThat(((Reply.Json) reply).document()).asString(UTF_8).isEqualTo(result("1"));
  }

  @Test
  void shouldMakeEveryRequestDurableWhenConfigured() {
    try (RelayFixture all =
        new RelayFixture(Settings.streams(Map.of("durable", "all")), Settings.replay())) {
      TestConnection client = all.follow(all.open(LOCAL), ping("\"p\""));
      client.awaitEnd();

      assertThat(client.data()).containsExactly(result("\"p\""));
    }
  }

  /** A cancelled call ends without an event, even if its server closes the stream first. */
  @Test
  void shouldEndACancelledCallWithoutAnEvent() throws InterruptedException {
    Session session = fixture.open(LOCAL);
    TestConnection client = fixture.follow(session, call("1", "hang"));
    running.await();
    client.await(c -> c.data().size() == 1);

    fixture.sender.send(session, body(cancelled("1")), Caller.UNKNOWN);
    client.awaitEnd();
    interrupted.await();

    assertThat(client.data()).hasSize(1);
  }

  /** The server closes the stream of the call before it acknowledges the cancellation. */
  @Test
  void shouldNotReportTheEndOfACancelledCallAsBroken() {
    ScriptedSource source = fixture.scripted.answerWithStream().bring(PROGRESS);
    Session session = fixture.open(SCRIPTED);
    TestConnection client = fixture.follow(session, call("1", "t"));
    client.await(c -> c.data().size() == 1);
    fixture.scripted.onSend =
        () -> {
          source.end();
          client.awaitEnd();
        };

    fixture.sender.send(session, body(cancelled("1")), Caller.UNKNOWN);

    assertThat(client.data()).containsExactly(PROGRESS);
    assertThat(fixture.scripted.sent).hasSize(1);
  }

  @Test
  void shouldApplyACancellationInABatch() {
    ScriptedSource source = fixture.scripted.answerWithStream().bring(PROGRESS);
    Session session = fixture.open(SCRIPTED);
    TestConnection client = fixture.follow(session, call("1", "t"));

    fixture.sender.send(
        session, body("[" + cancelled("9") + "," + cancelled("1") + "]"), Caller.UNKNOWN);
    client.awaitEnd();

    assertThat(client.data()).doesNotContain(result("1"));
    assertThat(source.isClosed()).isTrue();
  }

  @Test
  void shouldNotCancelTheSameIdOfAnotherSession() {
    ScriptedSource source = fixture.scripted.answerWithStream().bring(PROGRESS);
    Session mine = fixture.open(SCRIPTED);
    Session other = fixture.open(SCRIPTED);
    TestConnection client = fixture.follow(mine, call("1", "t"));
    client.await(c -> c.data().size() == 1);

    fixture.sender.send(other, body(cancelled("1")), Caller.UNKNOWN);
    fixture.sender.send(mine, body(cancelled("\"1\"")), Caller.UNKNOWN);
    source.bring(result("1"));
    client.awaitEnd();

    assertThat(client.data()).containsExactly(PROGRESS, result("1"));
  }

  @Test
  void shouldThrowAnImmediateFailure() {
    fixture.scripted.answer =
        _ -> {
          throw new UpstreamException.Unreachable(null);
        };
    Session session = fixture.open(SCRIPTED);

    assertThatThrownBy(() -> fixture.request(session, ping("1")))
        .isInstanceOf(UpstreamException.Unreachable.class);
  }

  @Test
  void shouldEndASessionThatItsServerDoesNotKnow() {
    Session session = fixture.open(SCRIPTED);
    fixture.scripted.sendFailure = new UpstreamException.SessionGone();

    assertThatThrownBy(() -> fixture.sender.send(session, body(cancelled("1")), Caller.UNKNOWN))
        .isInstanceOf(RelayException.SessionNotFound.class);
    assertThat(fixture.store.count()).isZero();
  }

  /** The answer was open already, and nothing else would close it. */
  @Test
  void shouldCloseAnAnswerThatCannotBeLogged() {
    ScriptedSource last = new ScriptedSource();
    fixture.scripted.answer = _ -> new Answer.Stream(new ScriptedSource());
    Session session = fixture.open(SCRIPTED);
    for (int i = 0; i < RelayFixture.MAX_STREAMS; i++) {
      Tail _ = fixture.request(session, ping("" + i));
    }
    fixture.scripted.answer = _ -> new Answer.Stream(last);

    assertThatThrownBy(() -> fixture.request(session, ping("9")))
        .isInstanceOf(LogException.TooManyStreams.class);
    assertThat(last.isClosed()).isTrue();
  }
}
