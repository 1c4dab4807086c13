package dev.holdfast.era.south;

import static dev.holdfast.era.south.StatelessServer.member;
import static dev.holdfast.era.south.StatelessServer.response;
import static dev.holdfast.upstream.http.UpstreamFixture.body;
import static dev.holdfast.upstream.http.UpstreamFixture.event;
import static dev.holdfast.upstream.http.UpstreamFixture.settings;
import static dev.holdfast.upstream.http.UpstreamFixture.take;
import static dev.holdfast.upstream.http.UpstreamFixture.takeAll;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.session.Transport;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.http.UpstreamFixture;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A client of 2025-11-25 at a server of 2026-07-28. */
@Timeout(60)
class TranslatedSessionTest {

  private static final String SSE = "text/event-stream";
  private static final String DONE =
      "{\"resultType\":\"complete\",\"content\":[],\"_meta\":{\"a\":1}}";
  private static final String QUESTION =
      """
      {"method":"elicitation/create","params":{"mode":"%s","message":"name?"}}\
      """;

  @RegisterExtension final UpstreamFixture fixture = new UpstreamFixture();

  /** Number of next reads that fail as if the store were away. */
  private final AtomicInteger failingReads = new AtomicInteger();

  private final SessionStore store = failing(EraUpstreamTest.store());
  private final ByteBudget held = new ByteBudget(1 << 20);
  private StatelessServer server;
  private EraUpstream upstream;
  private UpstreamLink link;
  private UpstreamSession session;

  @BeforeEach
  void open() {
    server = fixture.closing(new StatelessServer());
    server.result("tools/list", "{\"tools\":[]}");
    upstream = upstream();
    String initialize =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
            + "\"2025-11-25\",\"capabilities\":{\"elicitation\":{\"form\":{},\"url\":{}},"
            + "\"roots\":{}}}}";
    UpstreamLink opened =
        Objects.requireNonNull(
            upstream
                .initialize((Message.Request) ((Body.Single) body(initialize)).message())
                .link());
    Session recorded =
        new Session(
            SessionId.random(),
            "default",
            opened.session(),
            ProtocolVersion.V2025_11_25,
            Instant.now(),
            Transport.STREAMABLE,
            ForwardedHeaders.NONE,
            new Session.Owner(Principal.ANONYMOUS, "", "c/1", ""));
    store.create(recorded);
    link =
        new UpstreamLink(
            opened.session(),
            opened.protocolVersion(),
            recorded.id().value(),
            opened.sender(),
            null);
    session = upstream.attach(link);
  }

  private SessionStore failing(SessionStore store) {
    return (SessionStore)
        Proxy.newProxyInstance(
            SessionStore.class.getClassLoader(),
            new Class<?>[] {SessionStore.class},
            (_, method, arguments) -> {
              if (method.getName().equals("upstreamState")
                  && failingReads.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new SessionStoreException(null);
              }
              return method.invoke(store, arguments);
            });
  }

  private EraUpstream upstream() {
    return new EraUpstream(
        fixture.upstream(settings(server.http.url())),
        Era.AUTO,
        store,
        Duration.ofSeconds(20),
        held,
        ResultCache.NONE);
  }

  private static Body request(String method, String params) {
    return body(
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":{%s}}"
            .formatted(method, params));
  }

  private static Body call() {
    return request("tools/call", "\"name\":\"t\",\"_meta\":{\"progressToken\":\"p\"},\"task\":{}");
  }

  private List<String> answers(Body request) {
    return texts(takeAll(session.request(request).source()));
  }

  private String answer(Body request) {
    List<String> answers = answers(request);
    assertThat(answers).hasSize(1);
    return answers.getFirst();
  }

  private static String inputRequired(String requests, String state) {
    return "{\"resultType\":\"input_required\",\"inputRequests\":{%s}%s}"
        .formatted(requests, state.isEmpty() ? "" : ",\"requestState\":" + state);
  }

  private void respond(UpstreamSession to, String request, String result) {
    to.send(body(response(request, result)));
  }

  @Test
  void shouldAddMetaAndStripResult() {
    server.result("tools/call", DONE);

    assertThat(answer(call()))
        .isEqualTo(
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[],\"_meta\":{\"a\":1}}}");

    String sent = server.requests("tools/call").getFirst();
    assertThat(sent).doesNotContain("\"task\"");
    assertThat(member(sent, "params", "_meta"))
        .isEqualTo(
            "{\"progressToken\":\"p\",\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                + "\"io.modelcontextprotocol/clientCapabilities\":"
                + "{\"roots\":{},\"elicitation\":{\"form\":{},\"url\":{}},"
                + "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}},"
                + "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"\",\"version\":\"\"},"
                + "\"io.modelcontextprotocol/logLevel\":\"info\"}");
  }

  /** The next round of a call is the same request again. */
  @Test
  void shouldCountTheRequestsOfRunningCalls() {
    server.result("tools/call", inputRequired("\"who\":" + QUESTION.formatted("form"), "\"s\""));
    Body large = request("tools/call", "\"name\":\"t\",\"a\":\"" + "x".repeat(700_000) + "\"");

    MessageSource running = session.request(large).source();
    assertThat(texts(take(running, 1)).getFirst()).contains("elicitation/create");
    assertThatThrownBy(() -> session.request(large)).isInstanceOf(UpstreamException.Busy.class);
    running.close();

    server.result("tools/call", DONE);
    assertThat(answer(large)).contains("content");
    assertThat(held.taken()).isZero();
  }

  @Test
  void shouldAnswerWhatTheServerDoesNotKnow() {
    server.result("tools/call", DONE);

    assertThat(answer(request("ping", ""))).contains("\"result\":{}");
    assertThat(answer(request("logging/setLevel", "\"level\":\"debug\"")))
        .contains("\"result\":{}");
    assertThat(answer(request("logging/setLevel", "\"level\":\"loud\""))).contains("-32602");
    assertThat(answer(request("tasks/list", ""))).contains("-32601");
    session.send(body("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));

    assertThat(server.http.requests()).hasSize(1); // server/discover
    // Another replica knows the level, too.
    session = upstream().attach(link);
    assertThat(answer(call())).contains("result");
    assertThat(server.requests("tools/call").getFirst()).contains("logLevel\":\"debug\"");
  }

  @ParameterizedTest
  @CsvSource({"-32020, -32603", "-32021, -32021", "-32022, -32603", "-32602, -32602"})
  void shouldHideErrorsOfTheRevision(int code, int shown) {
    server.error("prompts/list", 400, code, "");

    assertThat(answer(request("prompts/list", ""))).contains("\"code\":" + shown, "\"id\":7");
  }

  @Test
  void shouldWrapOutputThatIsNoObject() {
    server.result(
        "tools/list",
        "{\"ttlMs\":1,\"tools\":[{\"name\":\"a\",\"outputSchema\":{\"type\":\"array\"}},"
            + "{\"name\":\"b\",\"outputSchema\":{\"anyOf\":[]}},{\"name\":\"d\",\"inputSchema\":"
            + "{\"properties\":{\"p\":{\"type\":\"number\",\"x-mcp-header\":\"p\"}}}},"
            + "{\"name\":\"c\",\"outputSchema\":{\"type\":\"object\"}}]}");
    server.result("tools/call", "{\"content\":[],\"structuredContent\":[1]}");

    assertThat(member(answer(request("tools/list", "")), "result"))
        .isEqualTo(
            "{\"tools\":[{\"name\":\"a\",\"outputSchema\":{\"type\":\"object\",\"properties\":"
                + "{\"result\":{\"type\":\"array\"}},\"required\":[\"result\"]}},{\"name\":\"b\"},"
                + "{\"name\":\"c\",\"outputSchema\":{\"type\":\"object\"}}]}");
    assertThat(member(answer(call()), "result", "structuredContent")).isEqualTo("{\"result\":[1]}");
  }

  @Test
  void shouldAskTheClientOnAnotherReplica() {
    // given
    server.when(
        "tools/call",
        (request, wire) -> {
          if (!request.contains("inputResponses")) {
            String two = QUESTION.formatted("url") + ",\"b\":{\"method\":\"roots/list\"}";
            wire.answer(
                200,
                SSE,
                event(progress(1))
                    + event(response(request, inputRequired("\"a\":" + two, "\"s\\u0031\""))));
          } else {
            wire.answer(
                200, SSE, event(progress(1)) + event(progress(2)) + event(response(request, DONE)));
          }
        });

    // when
    MessageSource source = fixture.closing(session.request(call()).source());
    List<String> asked = texts(take(source, 3));
    UpstreamSession elsewhere = upstream().attach(link);
    CompletableFuture<List<String>> rest =
        CompletableFuture.supplyAsync(() -> texts(takeAll(source)), Thread::startVirtualThread);
    respond(elsewhere, asked.get(1), "{\"action\":\"decline\"}"); // knows nothing of the call
    respond(session, asked.get(2), "{\"roots\":[]}");
    respond(session, asked.get(1), "{\"action\":\"accept\"}");

    // then
    assertThat(asked.get(1)).contains("\"elicitationId\":\"", "elicitation/create");
    assertThat(rest)
        .succeedsWithin(Duration.ofSeconds(10))
        .isEqualTo(
            List.of(
                progress(2),
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[],\"_meta\":{\"a\":1}}}"));
    String retry = server.requests("tools/call").getLast();
    assertThat(member(retry, "params", "inputResponses"))
        .isEqualTo("{\"a\":{\"action\":\"accept\"},\"b\":{\"roots\":[]}}");
    assertThat(member(retry, "params", "requestState")).isEqualTo("\"s\\u0031\"");
    assertThat(member(retry, "params", "_meta", "progressToken")).isEqualTo("\"p\"");
    assertThat(member(retry, "id")).isNotEqualTo("7");
  }

  /** Two questions of a server, which gets the call again with the answers. */
  private void asksTwice() {
    server.when(
        "tools/call",
        (request, wire) ->
            wire.answer(
                200,
                "application/json",
                response(
                    request,
                    request.contains("inputResponses")
                        ? DONE
                        : inputRequired(
                            "\"a\":"
                                + QUESTION.formatted("form")
                                + ",\"b\":{\"method\":\"roots/list\"}",
                            "\"state\""))));
  }

  private static String cursor(List<UpstreamMessage> messages) {
    assertThat(messages.getFirst().eventId()).isNull(); // After it, a question would be missing.
    return Objects.requireNonNull(messages.getLast().eventId());
  }

  @Test
  void shouldGoOnWithTheCallOfLostReplica() {
    // given
    asksTwice();
    MessageSource lost = fixture.closing(session.request(call()).source());
    List<UpstreamMessage> questions = take(lost, 2);
    List<String> asked = texts(questions);
    respond(upstream().attach(link), asked.get(0), "{\"action\":\"accept\"}");

    // when
    UpstreamSession elsewhere = upstream().attach(link);
    MessageSource source = fixture.closing(elsewhere.resume(cursor(questions)));
    respond(elsewhere, asked.get(0), "{\"action\":\"decline\"}"); // comes again, and too late
    respond(elsewhere, asked.get(1), "{\"roots\":[]}");

    // then
    assertThat(texts(takeAll(source)))
        .containsExactly(
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[],\"_meta\":{\"a\":1}}}");
    String retry = server.requests("tools/call").getLast();
    assertThat(member(retry, "params", "inputResponses"))
        .isEqualTo("{\"a\":{\"action\":\"accept\"},\"b\":{\"roots\":[]}}");
    assertThat(member(retry, "params", "requestState")).isEqualTo("\"state\"");

    // A replica that was only silent does not send the answers again.
    respond(session, asked.get(0), "{}");
    respond(session, asked.get(1), "{}");
    assertThat(texts(takeAll(lost)).getLast()).contains("-32603", "outcome of the request");
    assertThat(server.requests("tools/call")).hasSize(2);
    assertThatThrownBy(() -> elsewhere.resume(cursor(questions)))
        .isInstanceOf(UpstreamException.SessionGone.class);
  }

  /** An outage may have cost the replica that ran the call. */
  @Test
  void shouldGoOnWithCallWhenTheStoreIsBack() {
    asksTwice();
    List<UpstreamMessage> questions = take(fixture.closing(session.request(call()).source()), 2);
    texts(questions).forEach(asked -> respond(upstream().attach(link), asked, "{}"));
    failingReads.set(3);

    MessageSource source = fixture.closing(upstream().attach(link).resume(cursor(questions)));

    assertThat(texts(takeAll(source)).getFirst()).contains("\"id\":7", "\"content\":[]");
  }

  @Test
  void shouldNotForgetResourcesWhileTheStoreIsAway() {
    acknowledgesAll();
    Body subscribe = request("resources/subscribe", "\"uri\":\"x:1\"");
    assertThat(answer(subscribe)).contains("result");

    failingReads.set(1);
    assertThatThrownBy(() -> session.listen(null)).isInstanceOf(UpstreamException.Broken.class);
    assertThat(server.requests("subscriptions/listen")).isEmpty();
    fixture.closing(session.listen(null).orElseThrow());
    failingReads.set(1);
    assertThatThrownBy(() -> session.send(subscribe)).isInstanceOf(SessionStoreException.class);

    assertThat(server.requests("subscriptions/listen"))
        .singleElement()
        .asString()
        .contains("[\"x:1\"]");
  }

  @Test
  void withoutStoreShouldCallWithDefaultLogLevel() {
    server.result("tools/call", DONE);
    failingReads.set(1);

    assertThat(answer(call())).contains("result");
    assertThat(server.requests("tools/call").getFirst()).contains("logLevel\":\"info\"");
  }

  @Test
  void shouldNotGoOnWithCancelledCall() {
    asksTwice();
    MessageSource lost = fixture.closing(session.request(call()).source());
    String cursor = cursor(take(lost, 2));

    upstream()
        .attach(link)
        .send(
            body(
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                    + "\"params\":{\"requestId\":7}}"));

    assertThatThrownBy(() -> session.resume(cursor))
        .isInstanceOf(UpstreamException.SessionGone.class);
  }

  @Test
  void shouldNotKeepTooMuch() {
    asksTwice();
    MessageSource source = fixture.closing(session.request(call()).source());
    List<UpstreamMessage> questions = take(source, 2);
    List<String> asked = texts(questions);

    respond(session, asked.get(0), "{\"text\":\"" + "a".repeat(300_000) + "\"}");

    assertThatThrownBy(() -> session.resume(cursor(questions)))
        .isInstanceOf(UpstreamException.SessionGone.class);
    respond(session, asked.get(1), "{}");
    assertThat(texts(takeAll(source)).getFirst()).contains("\"content\":[]");
  }

  private static final String TASK =
      "\"taskId\":\"t\\u0031\",\"status\":\"%s\",\"ttlMs\":null,\"pollIntervalMs\":1";

  /** A task that asks once, and repeats its question until it has read the answer. */
  private void makesTask() {
    server.result("tools/call", "{\"resultType\":\"task\"," + TASK.formatted("working") + "}");
    server.result("tasks/update", "{}");
    server.result("tasks/cancel", "{}");
    server.when(
        "tasks/get",
        (request, wire) -> {
          int polls = server.requests("tasks/get").size();
          boolean isAnswered = !server.requests("tasks/update").isEmpty();
          String state =
              isAnswered && polls > 4
                  ? TASK.formatted("completed") + ",\"result\":{\"content\":[]}"
                  : polls > 1
                      ? TASK.formatted("input_required")
                          + ",\"inputRequests\":{\"a\":"
                          + QUESTION.formatted("form")
                          + "}"
                      : TASK.formatted("working");
          wire.answer(200, "application/json", response(request, "{" + state + "}"));
        });
  }

  @Test
  void shouldGiveTheResultOfTask() {
    makesTask();

    MessageSource source = fixture.closing(session.request(call()).source());
    String asked = texts(take(source, 1)).getFirst();
    respond(session, asked, "{\"action\":\"accept\"}");

    assertThat(texts(takeAll(source)))
        .containsExactly("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[]}}");
    assertThat(asked).contains("elicitation/create");
    assertThat(server.requests("tasks/update")).hasSize(1);
    String update = server.requests("tasks/update").getFirst();
    assertThat(member(update, "params", "inputResponses"))
        .isEqualTo("{\"a\":{\"action\":\"accept\"}}");
    assertThat(member(update, "params", "taskId")).isEqualTo("\"t\\u0031\"");
    assertThat(member(update, "params", "_meta")).contains("io.modelcontextprotocol/tasks");
    assertThat(server.requests("tools/call")).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldGoOnWithTaskOfLostReplica(boolean isAsked) {
    // given
    makesTask();
    List<String> cursors = new CopyOnWriteArrayList<>();
    MessageSource lost = fixture.closing(session.request(call()).source());
    lost.onIdWithoutMessage(cursors::add);
    List<UpstreamMessage> question = take(lost, 1);
    if (isAsked) {
      respond(upstream().attach(link), texts(question).getFirst(), "{\"action\":\"accept\"}");
      cursors.set(0, Objects.requireNonNull(question.getFirst().eventId()));
    } else {
      respond(session, texts(question).getFirst(), "{\"action\":\"accept\"}");
      CompletableFuture<List<UpstreamMessage>> rest =
          CompletableFuture.supplyAsync(lost::take, Thread::startVirtualThread);
      await().until(() -> !server.requests("tasks/update").isEmpty());
      lost.close();
      assertThat(rest).succeedsWithin(Duration.ofSeconds(10));
      repeatsQuestionOnce();
    }

    // when
    UpstreamSession elsewhere = upstream().attach(link);
    MessageSource source = fixture.closing(elsewhere.resume(cursors.getFirst()));

    // then
    assertThat(texts(takeAll(source)))
        .singleElement()
        .asString()
        .contains("\"id\":7", "\"content\":[]");
    assertThat(server.requests("tasks/update")).isNotEmpty().first().asString().contains("accept");
    assertThat(server.requests("tasks/cancel")).isEmpty();
    assertThatThrownBy(() -> elsewhere.resume(cursors.getFirst()))
        .isInstanceOf(UpstreamException.SessionGone.class);
  }

  private void repeatsQuestionOnce() {
    AtomicBoolean isRepeated = new AtomicBoolean();
    server.when(
        "tasks/get",
        (request, wire) ->
            wire.answer(
                200,
                "application/json",
                response(
                    request,
                    isRepeated.getAndSet(true)
                        ? "{\"status\":\"completed\",\"result\":{\"content\":[]}}"
                        : "{\"status\":\"input_required\",\"inputRequests\":{\"a\":"
                            + QUESTION.formatted("form")
                            + "}}")));
  }

  /** A task has keys of its own. */
  @Test
  void shouldAskForTheSameKeyAsTheCall() {
    makesTask();
    String task = "{\"resultType\":\"task\"," + TASK.formatted("working") + "}";
    String question = inputRequired("\"a\":" + QUESTION.formatted("form"), "");
    server.when(
        "tools/call",
        (request, wire) ->
            wire.answer(
                200,
                "application/json",
                response(request, request.contains("inputResponses") ? task : question)));
    MessageSource source = fixture.closing(session.request(call()).source());

    respond(session, texts(take(source, 1)).getFirst(), "{\"action\":\"accept\"}");
    respond(session, texts(take(source, 1)).getFirst(), "{\"action\":\"accept\"}");

    assertThat(texts(takeAll(source)).getFirst()).contains("\"id\":7", "\"content\":[]");
  }

  /** Nobody else would end the task. */
  @Test
  void shouldCancelTaskWhenItGivesUp() {
    makesTask();
    server.error("server/discover", 404, -32601, "");
    server.error("tasks/get", 404, -32601, "");
    List<String> cursors = new CopyOnWriteArrayList<>();
    MessageSource source = fixture.closing(session.request(call()).source());
    source.onIdWithoutMessage(cursors::add);

    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.SessionGone.class);

    await().until(() -> server.requests("tasks/cancel").size() == 1);
    assertThatThrownBy(() -> session.resume(cursors.getFirst()))
        .isInstanceOf(UpstreamException.SessionGone.class);
  }

  @Test
  void shouldCancelTaskOnce() {
    makesTask();
    MessageSource source = fixture.closing(session.request(call()).source());
    assertThat(take(source, 1)).hasSize(1);
    Body cancellation =
        body(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                + "\"params\":{\"requestId\":7}}");

    source.close();
    upstream().attach(link).send(cancellation);
    session.send(cancellation);

    await().until(() -> !server.requests("tasks/cancel").isEmpty());
    assertThat(takeAll(source)).isEmpty();
    assertThat(server.requests("tasks/cancel")).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{\"status\":\"failed\",\"error\":{\"code\":-32000,\"message\":\"no\"}}; -32000",
        "{\"status\":\"failed\"}; task failed",
        "{\"status\":\"completed\"}; no result",
        "{\"status\":\"cancelled\"}; cancelled the task"
      })
  void shouldEndCallWithTask(String state, String error) {
    makesTask();
    server.result("tasks/get", state);

    assertThat(answer(call())).contains("\"id\":7", error);
  }

  @Test
  void shouldPollAgainAfterFailure() {
    makesTask();
    server.when(
        "tasks/get",
        (request, wire) -> {
          if (server.requests("tasks/get").size() < 3) {
            wire.answer(503, "text/plain", "later");
          } else {
            wire.answer(
                200,
                "application/json",
                response(request, "{\"status\":\"completed\",\"result\":{\"content\":[]}}"));
          }
        });

    assertThat(answer(call())).contains("\"id\":7", "\"content\":[]");
  }

  @Test
  void shouldEndTaskWhoseAnswersTheServerRefuses() {
    makesTask();
    server.error("tasks/update", 200, -32602, "");
    MessageSource source = fixture.closing(session.request(call()).source());
    String asked = texts(take(source, 1)).getFirst();

    respond(session, asked, "{\"action\":\"accept\"}");

    assertThat(texts(takeAll(source)).getFirst()).contains("\"id\":7", "-32602");
    await().until(() -> !server.requests("tasks/cancel").isEmpty());
  }

  @Test
  void shouldEndTaskWhoseQuestionTheClientCannotAnswer() {
    makesTask();
    server.result(
        "tasks/get",
        "{\"status\":\"input_required\",\"inputRequests\":"
            + "{\"a\":{\"method\":\"sampling/createMessage\"}}}");

    assertThat(answer(call())).contains("\"id\":7", "isError");
    await().until(() -> !server.requests("tasks/cancel").isEmpty());
  }

  @Test
  void shouldEndCallWithTaskWithoutId() {
    server.result("tools/call", "{\"resultType\":\"task\"}");

    assertThat(answer(call())).contains("\"id\":7", "isError");
  }

  @Test
  void shouldEndCallWithUnknownTask() {
    makesTask();
    server.error("tasks/get", 200, -32602, "");

    assertThat(answer(call())).contains("\"id\":7", "-32602");
  }

  /** Some numbers do not fit into any type. */
  @Test
  void shouldPassOnProgressOfAnySize() {
    String huge = progress("1e99999999999");
    server.when(
        "tools/call",
        (request, wire) ->
            wire.answer(
                200, SSE, event(progress(1)) + event(huge) + event(response(request, DONE))));

    assertThat(answers(call())).hasSize(3).contains(huge);
  }

  private static String progress(Object value) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
        + "{\"progressToken\":\"p\",\"progress\":"
        + value
        + "}}";
  }

  @Test
  void shouldCancelElicitationThatTheClientRefuses() {
    server.when(
        "prompts/get",
        (request, wire) ->
            wire.answer(
                200,
                "application/json",
                response(
                    request,
                    request.contains("inputResponses")
                        ? DONE
                        : inputRequired("\"a\":" + QUESTION.formatted("form"), ""))));

    MessageSource source = fixture.closing(session.request(request("prompts/get", "")).source());
    String asked = texts(take(source, 1)).getFirst();
    session.send(
        body(
            "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":1,\"message\":\"no\"}}"
                .formatted(member(asked, "id"))));

    assertThat(texts(takeAll(source)).getFirst()).contains("\"content\":[]");
    assertThat(server.requests("prompts/get").getLast())
        .contains("\"a\":{\"action\":\"cancel\"}")
        .doesNotContain("requestState");
  }

  @ParameterizedTest
  @CsvSource({"tools/call, isError", "prompts/get, -32603"})
  void shouldFailWhenTheClientCannotAnswer(String method, String error) {
    server.result(method, inputRequired("\"a\":{\"method\":\"sampling/createMessage\"}", ""));

    assertThat(answer(request(method, ""))).contains(error);
  }

  @Test
  void shouldEndTooManyRounds() {
    server.result("prompts/get", inputRequired("", "\"again\""));

    assertThat(answer(request("prompts/get", ""))).contains("-32603", "too often");
    assertThat(server.requests("prompts/get")).hasSize(11);
  }

  @Test
  void shouldNeverRepeatCallWhoseStreamBroke() {
    server.when("tools/call", (_, wire) -> wire.answer(200, SSE, event(progress(1))));

    assertThat(answers(call()).getLast()).contains("-32603", "outcome of the request is unknown");
    assertThat(server.requests("tools/call")).hasSize(1);
  }

  @Test
  void shouldRepeatListWhoseStreamBroke() {
    server.when(
        "tools/list",
        (request, wire) ->
            wire.answer(
                200,
                SSE,
                server.requests("tools/list").size() < 3
                    ? ": nothing\n\n"
                    : event(response(request, "{\"tools\":[]}"))));

    assertThat(answer(request("tools/list", ""))).contains("\"tools\":[]");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldCloseTheStreamOfCancelledCall(boolean whileAsking) throws Exception {
    CountDownLatch left = new CountDownLatch(1);
    server.when(
        "tools/call",
        (request, wire) -> {
          if (whileAsking) {
            wire.answer(
                200,
                "application/json",
                response(request, inputRequired("\"a\":{\"method\":\"roots/list\"}", "")));
          } else {
            wire.beginEvents().chunk(event(progress(1)));
            wire.stall();
          }
          left.countDown();
        });
    MessageSource source = session.request(call()).source();
    assertThat(take(source, 1)).hasSize(1);
    CompletableFuture<Integer> rest =
        CompletableFuture.supplyAsync(() -> source.take().size(), Thread::startVirtualThread);

    source.close();

    assertThat(rest).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(0);
    assertThat(left.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void shouldListenAnewForEachResource() {
    // given
    server.when(
        "subscriptions/listen",
        (request, wire) -> {
          String resources = member(request, "params", "notifications", "resourceSubscriptions");
          wire.beginEvents()
              .chunk(
                  event(
                      notification(
                          "subscriptions/acknowledged",
                          "\"notifications\":{\"resourceSubscriptions\":"
                              + (resources.contains("bad") ? "[]" : resources)
                              + "}")))
              .chunk(event(notification("tools/list_changed", "\"r\":" + resources)));
          wire.stall();
        });
    MessageSource stream = fixture.closing(session.listen(null).orElseThrow());
    assertThat(texts(take(stream, 1)).getFirst())
        .contains("\"r\":[]")
        .doesNotContain("subscriptionId");

    // when
    String one = answer(request("resources/subscribe", "\"uri\":\"x:1\""));
    String bad = answer(request("resources/subscribe", "\"uri\":\"bad\""));
    UpstreamSession elsewhere = upstream().attach(link);
    Body second = request("resources/subscribe", "\"uri\":\"x:2\"");
    elsewhere.request(second).source().close();
    session.send(second);

    // then
    assertThat(one).contains("\"result\":{}");
    assertThat(bad).contains("-32602");
    await()
        .untilAsserted(() ->
            assertThat(server.requests("subscriptions/listen").getLast())
                .contains("[\"x:1\",\"x:2\"]"));
    assertThat(texts(take(stream, 3)).getLast()).contains("[\"x:1\",\"x:2\"]");
    await().until(() -> server.http.connections() <= 2);
  }

  private void acknowledgesAll() {
    server.when(
        "subscriptions/listen",
        (request, wire) ->
            wire.beginEvents()
                .chunk(
                    event(
                        notification(
                            "subscriptions/acknowledged",
                            "\"notifications\":"
                                + member(request, "params", "notifications")
                                    .replace(
                                        "\"promptsListChanged\":true",
                                        "\"promptsListChanged\":false"))))
                .stall());
  }

  @Test
  void shouldTellOfGapBetweenSubscriptions() {
    acknowledgesAll();
    assertThat(answer(request("resources/subscribe", "\"uri\":\"x:1\""))).contains("result");
    List<String> cursors = new CopyOnWriteArrayList<>();
    MessageSource first = session.listen(null).orElseThrow();
    first.onIdWithoutMessage(cursors::add);
    first.close();

    MessageSource second =
        fixture.closing(upstream().attach(link).listen(cursors.getFirst()).orElseThrow());

    assertThat(texts(take(second, 3)))
        .containsExactlyInAnyOrder(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
                + "\"params\":{\"uri\":\"x:1\"}}");
  }

  /** Both replicas change the same list. */
  @Test
  void shouldKeepSubscriptionsOfReplicasAtOnce() throws Exception {
    acknowledgesAll();
    UpstreamSession elsewhere = upstream().attach(link);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      UpstreamSession replica = i % 2 == 0 ? session : elsewhere;
      Body subscribe = request("resources/subscribe", "\"uri\":\"x:" + i + "\"");
      threads.add(Thread.startVirtualThread(() -> replica.request(subscribe).source().close()));
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(answer(request("resources/subscribe", "\"uri\":\"x:more\""))).contains("too many");
    fixture.closing(session.listen(null).orElseThrow());
    String listen = server.requests("subscriptions/listen").getLast();
    assertThat(
            JsonEdit.elements(member(listen, "params", "notifications", "resourceSubscriptions")))
        .hasSize(100);
  }

  private static String notification(String method, String params) {
    return ("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\",\"params\":{\"_meta\":"
            + "{\"io.modelcontextprotocol/subscriptionId\":\"l\"},%s}}")
        .formatted(method, params);
  }

  @Test
  void shouldEndSubscriptionWhoseOpeningIsInterrupted() throws Exception {
    CountDownLatch left = new CountDownLatch(1);
    server.when(
        "subscriptions/listen",
        (_, wire) -> {
          wire.beginEvents().stall();
          left.countDown();
        });
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    Thread listening =
        Thread.startVirtualThread(() -> {
          try {
            session.listen(null).orElseThrow().close();
          } catch (UpstreamException interrupted) {
            failure.complete(interrupted);
          }
        });
    await()
        .until(() ->
            Stream.of(listening.getStackTrace())
                .anyMatch(frame ->
                    frame.getClassName().equals(Subscription.class.getName())
                        && frame.getMethodName().equals("await")));

    listening.interrupt();

    assertThat(failure)
        .succeedsWithin(Duration.ofSeconds(10))
        .isInstanceOf(UpstreamException.Broken.class);
    assertThat(left.await(5, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void shouldOfferNoStreamWithoutSubscriptions() {
    assertThat(session.listen(null)).isEmpty();
  }

  @Test
  void shouldAnswerBatch() {
    server.result("tools/call", DONE);
    Body batch =
        body(
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
                + "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{}}]");

    assertThat(answers(batch))
        .hasSize(2)
        .anyMatch(answer -> answer.contains("\"id\":1,\"result\":{}"))
        .anyMatch(answer -> answer.contains("\"id\":2,\"result\":{\"content\""));
  }
}
