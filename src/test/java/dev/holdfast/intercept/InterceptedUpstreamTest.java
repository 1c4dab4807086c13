package dev.holdfast.intercept;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Caller;
import dev.holdfast.intercept.InterceptedMessage.Direction;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Every way that a message takes between a client and a server passes the chain. */
class InterceptedUpstreamTest {

  private static final UpstreamLink LINK =
      new UpstreamLink("server's", "2025-11-25", "gateway's", Caller.UNKNOWN, null);

  private static final String REFUSED = "\"error\":{\"code\":-32000,\"message\":\"no\"}";

  private final List<InterceptedMessage> seen = new ArrayList<>();
  private final Server server = new Server();

  /** Refuses what contains "bad", replaces "old" by "new", and throws at "bug". */
  private Verdict judge(InterceptedMessage message) {
    seen.add(message);
    String json = new String(message.message().bytes(), UTF_8);
    if (json.contains("bug")) {
      throw new IllegalStateException("a bug");
    }
    if (json.contains("bad")) {
      return new Verdict.Refuse(JsonRpcErrorCode.SERVER_ERROR, "no");
    }
    return json.contains("old")
        ? new Verdict.Replace(json.replace("old", "new").getBytes(UTF_8))
        : Verdict.PASS;
  }

  private final ByteBudget kept = new ByteBudget(100_000);
  private final Upstream upstream = intercepted(this::judge);
  private final UpstreamSession session = upstream.attach(LINK);

  private Upstream intercepted(Interceptor... interceptors) {
    return InterceptedUpstream.of(server, "files", List.of(interceptors), kept);
  }

  /** Keeps what it gets, and answers as it is told. */
  private static final class Server implements Upstream, UpstreamSession {
    final List<String> got = new ArrayList<>();
    List<UpstreamMessage> messages = List.of();
    final List<String> sent = new ArrayList<>();
    boolean plain;
    boolean together;
    boolean ended;
    boolean unreachable;

    void says(String... json) {
      messages = new ArrayList<>();
      for (int i = 0; i < json.length; i++) {
        messages.add(new UpstreamMessage(json[i].getBytes(UTF_8), "e" + i));
      }
    }

    private MessageSource source() {
      return new MessageSource() {
        private final List<UpstreamMessage> left = new ArrayList<>(messages);

        @Override
        public List<UpstreamMessage> take() {
          List<UpstreamMessage> taken =
              List.copyOf(together || left.isEmpty() ? left : left.subList(0, 1));
          left.subList(0, taken.size()).clear();
          return taken;
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public Handshake initialize(Message.Request initialize, Caller opener) {
      got.add(new String(initialize.bytes(), UTF_8));
      int last = messages.size() - 1;
      return new Handshake(messages.get(last).payload(), LINK, messages.subList(0, last));
    }

    @Override
    public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
      got.add(new String(initialize.bytes(), UTF_8));
    }

    @Override
    public UpstreamSession attach(UpstreamLink link) {
      return this;
    }

    @Override
    public Answer request(Body requests) {
      got.add(new String(requests.bytes(), UTF_8));
      return plain ? new Answer.Json(messages.getFirst().payload()) : new Answer.Stream(source());
    }

    @Override
    public void send(Body body) {
      if (unreachable) {
        throw new UpstreamException.Unreachable(new IOException("planted"));
      }
      sent.add(new String(body.bytes(), UTF_8));
      got.add(new String(body.bytes(), UTF_8));
    }

    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      return Optional.of(source());
    }

    @Override
    public MessageSource resume(String eventId) {
      return source();
    }

    @Override
    public void end() {
      ended = true;
    }

    @Override
    public void close() {}
  }

  private static Body body(String json) {
    return Envelopes.read(json.getBytes(UTF_8));
  }

  private static String request(int id, String text) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"}".formatted(id, text);
  }

  private static String response(int id, String text) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":\"%s\"}".formatted(id, text);
  }

  private static String refused(int id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,%s}".formatted(id, REFUSED);
  }

  private static String notification(String text) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}".formatted(text);
  }

  private static List<String> all(MessageSource source) {
    List<String> all = new ArrayList<>();
    source.forEach(message -> all.add(new String(message.payload(), UTF_8)));
    return all;
  }

  @Test
  void shouldNotWrapWithoutInterceptors() {
    assertThat(intercepted()).isSameAs(server);
  }

  /** Interceptors see a request again with its response. */
  @Test
  void shouldCountTheRequestsThatWaitForTheirResponses() {
    String large = " ".repeat(100_000) + request(1, "fine");
    server.says(response(1, "fine"));

    MessageSource waiting = session.request(body(large)).source();
    assertThatThrownBy(() -> session.request(body(large)))
        .isInstanceOf(UpstreamException.Busy.class);
    waiting.close();

    session.request(body(large)).source().close();
    server.plain = true;
    assertThat(session.request(body(large))).isInstanceOf(Answer.Json.class);
    server.messages = List.of();
    assertThatThrownBy(() -> session.request(body(large)))
        .isInstanceOf(NoSuchElementException.class);
    assertThat(kept.taken()).isZero();
    assertThat(server.got).hasSize(4);
  }

  @Test
  void shouldPassTheSameBytes() {
    String spaced = " " + request(1, "fine") + " ";
    server.says(" " + response(1, "fine"));

    List<String> answer = all(session.request(body(spaced)).source());

    assertThat(server.got).containsExactly(spaced);
    assertThat(answer).containsExactly(" " + response(1, "fine"));
    assertThat(seen)
        .extracting(
            InterceptedMessage::direction,
            InterceptedMessage::upstream,
            InterceptedMessage::session,
            InterceptedMessage::method)
        .containsExactly(
            tuple(Direction.TO_SERVER, "files", "gateway's", "fine"),
            tuple(Direction.TO_CLIENT, "files", "gateway's", "fine"));
  }

  @Test
  void shouldReplaceEitherWay() {
    server.says(notification("old"), response(1, "old"));

    List<String> answer = all(session.request(body(request(1, "old"))).source());

    assertThat(server.got).containsExactly(request(1, "new"));
    assertThat(answer).containsExactly(notification("new"), response(1, "new"));
  }

  @Test
  void shouldRefuseARequest() {
    Answer answer = session.request(body(request(1, "bad")));

    assertThat(server.got).isEmpty();
    assertThat(answer).isInstanceOf(Answer.Json.class);
    assertThat(all(answer.source())).containsExactly(refused(1));
  }

  @Test
  void shouldRefuseAResponseAndDropNotifications() {
    server.says(notification("bad"), notification("fine"), notification("bad"), response(1, "bad"));
    MessageSource source = session.request(body(request(1, "fine"))).source();
    List<String> dropped = new ArrayList<>();
    source.onIdWithoutMessage(dropped::add);

    assertThat(all(source)).containsExactly(notification("fine"), refused(1));
    assertThat(dropped).containsExactly("e0", "e2");
  }

  @Test
  void shouldJudgePlainJson() {
    server.plain = true;
    server.says(response(1, "old"));
    assertThat(all(session.request(body(request(1, "fine"))).source()))
        .containsExactly(response(1, "new"));

    server.says("[" + response(1, "bad") + "," + response(2, "fine") + "]");
    String batch = "[" + request(1, "fine") + "," + request(2, "fine") + "]";
    assertThat(all(session.request(body(batch)).source()))
        .containsExactly("[" + refused(1) + "," + response(2, "fine") + "]");
  }

  @Test
  void shouldRefuseSomeOfABatch() {
    server.says(response(2, "fine"));
    String batch = "[" + request(1, "bad") + "," + request(2, "fine") + "]";

    List<String> answer = all(session.request(body(batch)).source());

    assertThat(server.got).containsExactly("[" + request(2, "fine") + "]");
    assertThat(answer).containsExactly(refused(1), response(2, "fine"));
  }

  @Test
  void shouldRefuseAllOfABatch() {
    String batch = "[" + request(1, "bad") + "," + request(2, "bad") + "]";

    assertThat(all(session.request(body(batch)).source())).containsExactly(refused(1), refused(2));
    assertThat(server.got).isEmpty();
  }

  /** A server answers a body without requests with nothing. */
  @Test
  void shouldSendTheRestOfABatchWithoutItsRequests() {
    String batch = "[" + request(1, "bad") + "," + notification("fine") + "]";

    assertThat(all(session.request(body(batch)).source())).containsExactly(refused(1));
    assertThat(server.sent).containsExactly("[" + notification("fine") + "]");
  }

  /** Both were errors of the gateway, or an invalid message. */
  @Test
  void shouldPassOnInvalidAndEmptyAnswers() {
    server.plain = true;
    server.says("not JSON");
    assertThat(all(session.request(body(request(1, "fine"))).source())).containsExactly("not JSON");

    server.says(notification("bad"));
    assertThat(all(session.request(body(request(1, "fine"))).source())).isEmpty();

    server.plain = false;
    server.says("[" + notification("bad") + "]", response(1, "fine"));
    assertThat(all(session.request(body(request(1, "fine"))).source()))
        .containsExactly(response(1, "fine"));
  }

  /** The cursor passed a message that was not in the log yet, so a lost replica lost it. */
  @Test
  void shouldReportADroppedMessageAfterThoseBeforeIt() {
    server.together = true;
    server.says(notification("fine"), notification("bad"));
    MessageSource source = session.listen(null).orElseThrow();
    List<String> dropped = new ArrayList<>();
    source.onIdWithoutMessage(dropped::add);

    assertThat(source.take()).hasSize(1);
    assertThat(dropped).isEmpty();
    assertThat(source.take()).isEmpty();
    assertThat(dropped).containsExactly("e1");
  }

  @Test
  void shouldJudgeTheRequestThatReopensASession() {
    upstream.reopen(LINK, (Message.Request) body(request(1, "old")).messages().getFirst(), true);
    assertThat(server.got).containsExactly(request(1, "new"));

    Message.Request bad = (Message.Request) body(request(1, "bad")).messages().getFirst();
    assertThatExceptionOfType(UpstreamException.SessionGone.class)
        .isThrownBy(() -> upstream.reopen(LINK, bad, true));
  }

  /** The server must not wait for an answer that was refused. */
  @Test
  void shouldJudgeWhatNeedsNoAnswer() {
    session.send(body(notification("bad")));
    session.send(body(response(4, "bad")));
    session.send(body(notification("old")));

    assertThat(server.got).containsExactly(refused(4), notification("new"));
  }

  @Test
  void shouldJudgeTheStandaloneStreamAndResumedStreams() {
    server.says(notification("old"), request(9, "bad"), notification("fine"));

    assertThat(all(session.listen(null).orElseThrow()))
        .containsExactly(notification("new"), notification("fine"));
    assertThat(server.got).containsExactly(refused(9));
    assertThat(all(session.resume("e0")))
        .containsExactly(notification("new"), notification("fine"));
  }

  @Test
  void shouldJudgeInitialize() {
    Message.Request request =
        (Message.Request) ((Body.Single) body(request(1, "initialize bad"))).message();
    Handshake refusedRequest = upstream.initialize(request, Caller.UNKNOWN);

    assertThat(refusedRequest.link()).isNull();
    assertThat(new String(refusedRequest.response(), UTF_8)).isEqualTo(refused(1));
    assertThat(server.got).isEmpty();

    server.says(response(1, "bad"));
    Message.Request fine = (Message.Request) ((Body.Single) body(request(1, "fine"))).message();
    Handshake refusedResponse = upstream.initialize(fine, Caller.UNKNOWN);

    assertThat(refusedResponse.link()).isNull();
    assertThat(server.ended).isTrue();
  }

  @Test
  void shouldRefuseOnlyTheMessageAtWhichAnInterceptorThrows() {
    server.says(notification("bug"), response(1, "fine"));

    List<String> answer = all(session.request(body(request(1, "fine"))).source());
    List<String> refused = all(session.request(body(request(2, "bug"))).source());

    assertThat(answer).containsExactly(response(1, "fine"));
    assertThat(refused)
        .containsExactly(
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32603,"
                + "\"message\":\"The gateway could not check the message\"}}");
  }

  @Test
  void shouldJudgeWhatComesBeforeTheAnswerToInitialize() {
    server.says(notification("old"), notification("bad"), response(1, "fine"));
    Message.Request fine = (Message.Request) ((Body.Single) body(request(1, "fine"))).message();

    Handshake handshake = upstream.initialize(fine, Caller.UNKNOWN);

    assertThat(handshake.before())
        .extracting(message -> new String(message.payload(), UTF_8))
        .containsExactly(notification("new"));
  }

  @Test
  void shouldGoOnWhenTheServerCannotBeToldOfARefusal() {
    server.unreachable = true;
    server.says(request(9, "bad"), notification("fine"));

    assertThat(all(session.listen(null).orElseThrow())).containsExactly(notification("fine"));
  }

  @Test
  void shouldRefuseTheMessageWhateverAnInterceptorDoes() {
    Interceptor dying =
        _ -> {
          throw new StackOverflowError("planted");
        };
    Interceptor wrong = _ -> new Verdict.Refuse(1, "x", Map.of("k", List.of()));
    for (Interceptor each : List.of(dying, wrong)) {
      UpstreamSession failing = intercepted(each).attach(LINK);

      assertThat(all(failing.request(body(request(1, "fine"))).source()))
          .singleElement()
          .asString()
          .contains("\"id\":1,\"error\":{\"code\":-32603");
    }
  }

  @Test
  void shouldLogThatAnInterceptorFailed() {
    Interceptor failing =
        _ -> {
          throw new IllegalStateException("planted");
        };
    UpstreamSession session = intercepted(failing).attach(LINK);
    try (LoggedLines log = new LoggedLines(InterceptorChain.class)) {
      log.awaitRepeating(
          "an interceptor failed, its message is refused interceptor="
              + failing.getClass().getName(),
          () -> session.request(body(request(1, "fine"))).source().close());
      assertThat(log.lines())
          .noneMatch(line -> line.contains("planted") && !line.contains("DEBUG"));
    }
  }

  @Test
  void shouldRefuseAReplacementThatIsAnotherMessage() {
    for (String other : List.of("{", response(1, "x"), request(2, "x"), "[]")) {
      UpstreamSession replacing =
          intercepted(_ -> new Verdict.Replace(other.getBytes(UTF_8))).attach(LINK);

      assertThat(all(replacing.request(body(request(1, "fine"))).source()))
          .singleElement()
          .asString()
          .contains("\"id\":1,\"error\":{\"code\":-32603");
    }
    assertThat(server.got).isEmpty();
  }

  @Test
  void shouldAskInterceptorsInTheirOrder() {
    UpstreamSession ordered =
        intercepted(_ -> new Verdict.Replace(request(1, "old").getBytes(UTF_8)), this::judge)
            .attach(LINK);
    server.says(response(1, "x"));

    assertThat(ordered.request(body(request(1, "first")))).isNotNull();

    assertThat(server.got).containsExactly(request(1, "new"));
  }
}
