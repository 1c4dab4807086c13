package dev.holdfast.upstream.channel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Routing of messages to streams. */
@Timeout(20)
class ChannelRouterTest {

  private static final String LOG =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}";

  private static final String ASK =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\",\"params\":{}}";

  private final ChannelRouter router = new ChannelRouter("test", new ByteBudget(Long.MAX_VALUE));

  @Test
  void shouldRouteResponsesToTheRequestWithTheirId() throws Exception {
    Exchange number = open(call("1"));
    Exchange text = open(call("\"1\""));

    route(response("\"1\""));
    route(response("1"));

    assertThat(taken(number)).containsExactly(response("1"));
    assertThat(taken(text)).containsExactly(response("\"1\""));
  }

  @Test
  void shouldEndAfterTheLastResponse() throws Exception {
    Exchange batch = open(call("1"), call("2"));

    route(response("2"));
    assertThat(taken(batch)).containsExactly(response("2"));
    route(response("1"));

    assertThat(taken(batch)).containsExactly(response("1"));
    assertThat(taken(batch)).isEmpty();
    assertThat(batch.isStreaming()).isFalse();
  }

  @Test
  void shouldDropResponsesToNoOpenRequest() {
    Exchange cancelled = open(call("1"));
    Exchange other = open(call("2"));
    router.cancel(RequestId.of(1));

    route(response("1"));
    route(response("3"));

    assertThat(isSilent(other)).isTrue();
    assertThat(isOver(cancelled)).isTrue();
  }

  @Test
  void shouldRouteAnErrorWithoutIdToTheOnlyRequest() throws Exception {
    String error = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"\"}}";
    Exchange only = open(call("1"));

    route(error);

    assertThat(taken(only)).containsExactly(error);
    Exchange first = open(call("1"));
    Exchange second = open(call("2"));
    route(error);
    assertThat(isSilent(first)).isTrue();
    assertThat(isSilent(second)).isTrue();
  }

  @Test
  void shouldRouteProgressToTheRequestWithTheToken() throws Exception {
    Exchange first = open(call("1", "\"a\""));
    Exchange second = open(call("2", "7"));
    Exchange third = open(call("3", "\"7\""));

    route(progress("7"));
    route(progress("\"\\u0061\""));

    assertThat(taken(first)).containsExactly(progress("\"\\u0061\""));
    assertThat(taken(second)).containsExactly(progress("7"));
    assertThat(isSilent(third)).isTrue();
  }

  @Test
  void shouldForgetTokensWithTheirRequests() throws Exception {
    Exchange answered = open(call("1", "7"));
    Exchange other = open(call("2"));
    route(response("1"));

    route(progress("7"));

    assertThat(taken(answered)).containsExactly(response("1"));
    assertThat(isSilent(other)).isTrue();
    assertThat(taken(router.standalone().listen())).containsExactly(progress("7"));
  }

  @ParameterizedTest
  @ValueSource(strings = {LOG, ASK})
  void shouldRouteOtherMessagesToTheNewestCall(String message) throws Exception {
    MessageSource standalone = router.standalone().listen();
    Exchange older = open(call("1"));
    Exchange call = open(call("2"));
    Exchange list = open(request("3", "tools/list", ""));

    route(message);
    route(response("2"));
    route(message);
    route(response("1"));
    route(message);
    route(response("3"));
    route(message);

    assertThat(taken(call)).containsExactly(message, response("2"));
    assertThat(taken(older)).containsExactly(message, response("1"));
    assertThat(taken(list)).containsExactly(message, response("3"));
    assertThat(list.isStreaming()).isTrue();
    assertThat(taken(standalone)).containsExactly(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/tasks/status",
        "notifications/elicitation/complete"
      })
  void shouldRouteSessionWideMessagesToTheStandaloneStream(String method) throws Exception {
    MessageSource standalone = router.standalone().listen();
    Exchange call = open(call("1"));
    String message = "{\"jsonrpc\":\"2.0\",\"method\":\"" + method + "\"}";

    route(message);

    assertThat(taken(standalone)).containsExactly(message);
    assertThat(isSilent(call)).isTrue();
  }

  @Test
  void shouldKeepOneFullQueueWithoutAReader() throws Exception {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      // There may never be a reader, so the channel must not wait for one.
      for (int i = 0; i < 10 * MessageQueue.MAX_MESSAGES; i++) {
        route(LOG);
      }

      assertThat(taken(router.standalone().listen())).hasSize(MessageQueue.MAX_MESSAGES);
      log.await("standalone stream has no reader, messages dropped upstream=");
    }
  }

  @Test
  void shouldGiveUnreadMessagesToTheNextReader() throws Exception {
    MessageSource first = router.standalone().listen();
    route(LOG);
    MessageSource second = router.standalone().listen();
    assertThat(taken(first)).isEmpty();

    first.close();
    route(ASK);
    second.close();
    route(LOG);

    assertThat(taken(router.standalone().listen())).containsExactly(LOG, ASK, LOG);
  }

  @Test
  void shouldWaitForASlowReader() throws Exception {
    Exchange call = open(call("1"));

    Thread process = fill();
    assertThat(taken(call)).hasSize(MessageQueue.MAX_MESSAGES);
    process.join();

    assertThat(taken(call)).containsExactly(LOG);
  }

  @Test
  void shouldRouteAWaitingMessageAgainWhenItsReaderGoes() throws Exception {
    MessageSource standalone = router.standalone().listen();
    Exchange call = open(call("1"));
    Thread process = fill();

    List<RequestId> unanswered = router.close(call);
    process.join();

    assertThat(unanswered).containsExactly(RequestId.of(1));
    assertThat(taken(standalone)).containsExactly(LOG);
  }

  @Test
  void shouldRouteAWaitingMessageAgainWhenItsStreamFails() throws Exception {
    MessageSource standalone = router.standalone().listen();
    Exchange call = open(call("1"));
    Thread process = fill();

    call.sent(new UpstreamException.Refused(400, null, null, List.of(), null));
    process.join();

    assertThat(taken(standalone)).containsExactly(LOG);
  }

  private Thread fill() {
    for (int i = 0; i < MessageQueue.MAX_MESSAGES; i++) {
      route(LOG);
    }
    Thread process = Thread.ofPlatform().start(() -> route(LOG));
    await().until(() -> process.getState() == Thread.State.WAITING);
    return process;
  }

  @Test
  void shouldRefuseAnIdThatIsInUse() {
    Exchange call = open(call("1"));

    assertThat(router.open(List.of(call("1")))).isEmpty();
    assertThat(router.open(List.of(call("2"), call("2")))).isEmpty();
    assertThat(router.open(List.of(call("2")))).isPresent();
    router.close(call);
    assertThat(router.open(List.of(call("1")))).isPresent();
  }

  @Test
  void shouldFailAllStreamsWhenTheChannelEnds() throws Exception {
    Exchange answered = open(call("1"));
    Exchange open = open(call("2"));
    MessageSource standalone = router.standalone().listen();
    route(response("1"));
    route(LOG);

    router.end(new UpstreamException.Broken("first", null));
    router.end(new UpstreamException.Broken("second", null));
    route(LOG);

    assertThat(taken(answered)).containsExactly(response("1"));
    assertThat(taken(answered)).isEmpty();
    assertThat(taken(open)).containsExactly(LOG);
    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> taken(open))
        .withMessageContaining("first");
    assertThat(taken(open)).isEmpty();
    assertThatExceptionOfType(UpstreamException.SessionGone.class)
        .isThrownBy(() -> taken(standalone));
    assertThatExceptionOfType(UpstreamException.SessionGone.class)
        .isThrownBy(router.standalone()::listen);
    assertThatExceptionOfType(UpstreamException.SessionGone.class)
        .isThrownBy(() -> router.open(List.of(call("3"))));
  }

  private Exchange open(Message.Request... requests) {
    return router.open(List.of(requests)).orElseThrow();
  }

  private void route(String json) {
    router.route(message(json));
  }

  private static Message message(String json) {
    return ((Body.Single) Envelopes.read(json.getBytes(UTF_8))).message();
  }

  private static Message.Request call(String id) {
    return request(id, "tools/call", "");
  }

  private static Message.Request call(String id, String token) {
    return request(id, "tools/call", ",\"params\":{\"_meta\":{\"progressToken\":" + token + "}}");
  }

  private static Message.Request request(String id, String method, String params) {
    return (Message.Request)
        message(
            "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\"%s}".formatted(id, method, params));
  }

  private static String response(String id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{}}";
  }

  private static String progress(String token) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":"
        + token
        + ",\"progress\":1}}";
  }

  private static List<String> taken(Exchange exchange) throws InterruptedException {
    return texts(exchange.queue().take(Duration.ofSeconds(5)));
  }

  private static List<String> taken(MessageSource source) {
    return texts(source.take());
  }

  private static List<String> texts(List<UpstreamMessage> messages) {
    return messages.stream().map(message -> new String(message.payload(), UTF_8)).toList();
  }

  private static boolean isSilent(Exchange exchange) {
    return !has(exchange);
  }

  private static boolean isOver(Exchange exchange) {
    try {
      return taken(exchange).isEmpty();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean has(Exchange exchange) {
    try {
      return exchange.queue().await(Duration.ofNanos(1));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
