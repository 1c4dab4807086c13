package dev.holdfast.upstream.stdio;

import static dev.holdfast.upstream.stdio.StdioClient.drain;
import static dev.holdfast.upstream.stdio.StdioClient.logged;
import static dev.holdfast.upstream.stdio.StdioClient.response;
import static dev.holdfast.upstream.stdio.StdioClient.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Messages of a session with a real process. */
@Timeout(60)
class StdioSessionTest {

  /** Number of messages that wait in a stream before the server is held back. */
  private static final int MOST_WAITING = 64;

  private static final String ID_IN_USE = "the id is in use";

  @TempDir Path directory;
  private ShellServer server;
  private StdioUpstream upstream;
  private StdioClient client;

  @BeforeEach
  void start() {
    server = new ShellServer(directory);
    open();
  }

  private void open() {
    upstream = server.upstream();
    client = StdioClient.open(upstream);
  }

  private void reopen() {
    upstream.close();
    open();
  }

  @AfterEach
  void stop() {
    upstream.close();
    assertThat(upstream.channels()).isZero();
  }

  @Test
  void shouldAnswerWithJsonWithoutEarlierMessages() {
    assertThat(client.ask("1", "reply '{\"a\":1}'")).isEqualTo(response("1", "{\"a\":1}"));
    assertThat(client.ask("\"1\"", "reply '{\"a\":2}'")).isEqualTo(response("\"1\"", "{\"a\":2}"));
  }

  @Test
  void shouldAnswerWithStreamAfterEarlierMessages() {
    MessageSource stream =
        client.stream(ShellServer.request("1", "prompts/get", "log a; log b; reply '{}'"));

    assertThat(drain(stream)).containsExactly(logged("a"), logged("b"), response("1", "{}"));
  }

  @Test
  void shouldAnswerCallWithStream() {
    String progress =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
            + "\"params\":{\"progressToken\":\"t\",\"progress\":1}}";

    MessageSource stream = client.call("1", "say '" + progress + "'; log a; reply '{}'", "\"t\"");

    assertThat(drain(stream)).containsExactly(progress, logged("a"), response("1", "{}"));
  }

  @Test
  void shouldSendBodyOnOneLine() {
    client.send("{\"jsonrpc\":\"2.0\",\n \"method\":\r\n\"notifications/test\"}\n");

    await()
        .untilAsserted(() ->
            assertThat(server.received())
                .last()
                .isEqualTo("{\"jsonrpc\":\"2.0\",  \"method\":  \"notifications/test\"} "));
  }

  @Test
  void shouldIgnoreInvalidMessages() {
    MessageSource stream =
        client.call(
            "1",
            """
            say 'Server started'; say ''; say '[]'; say '{"jsonrpc":"1.0","id":1,"result":{}}'
            printf '\\377\\n'; printf '{"jsonrpc":"2.0","id":1,"result":{}}\\r\\n'
            """);

    assertThat(drain(stream)).containsExactly(response("1", "{}"));
  }

  @Test
  void shouldPassServerRequestAndAnswerDuringCall() {
    String question =
        "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{}}";
    MessageSource stream =
        client.call("1", "say '" + question + "'; read -r line; log \"${#line}\"; reply '{}'");
    assertThat(take(stream, 1)).containsExactly(question);

    String answer = response("\"q\"", "{\"action\":\"accept\"}");
    client.send(answer);

    assertThat(drain(stream))
        .containsExactly(logged(Integer.toString(answer.length())), response("1", "{}"));
  }

  @Test
  void shouldRouteOtherMessagesToStandaloneStream() {
    client.tell("log early");
    MessageSource standalone = client.listen();
    client.tell("log later");

    assertThat(take(standalone, 2)).containsExactly(logged("early"), logged("later"));

    standalone.close();
    assertThat(standalone.take()).isEmpty();
  }

  @Test
  void shouldNotLoseMessagesOfFastServer() {
    int lines = 20 * MOST_WAITING;

    MessageSource stream =
        client.call(
            "1", "i=0; while [ $i -lt " + lines + " ]; do i=$((i+1)); log $i; done; reply '{}'");

    List<String> all = drain(stream);
    assertThat(all).hasSize(lines + 1);
    assertThat(all.subList(0, lines))
        .isEqualTo(
            IntStream.rangeClosed(1, lines).mapToObj(i -> logged(Integer.toString(i))).toList());
  }

  @Test
  void shouldNotBlockOthersForClosedStream() {
    MessageSource flooded =
        client.call("1", "i=0; while [ $i -lt 500 ]; do i=$((i+1)); log $i; done");
    MessageSource waiting = client.call("2", "reply '{}'");

    flooded.close();

    assertThat(drain(waiting)).last().isEqualTo(response("2", "{}"));
    assertThat(flooded.take()).isEmpty();
  }

  @Test
  void shouldPassOnBatch() {
    String batch =
        "["
            + ShellServer.request("1", "tools/call", "first=$id")
            + ","
            + ShellServer.request("2", "tools/call", "")
            + "]";
    // The script reads the line once and runs the code of its first message.
    MessageSource one =
        client.stream(
            batch.replace(
                ShellServer.request("1", "tools/call", "first=$id"),
                ShellServer.request(
                    "1",
                    "tools/call",
                    "say '[" + response("2", "{}") + "," + response("1", "{}") + "]'")));

    assertThat(drain(one)).containsExactly(response("2", "{}"), response("1", "{}"));
    assertThat(server.received()).last().asString().startsWith("[{").endsWith("}]");
  }

  @Test
  void shouldDropResponseToCancelledCall() {
    MessageSource cancelled = client.call("1", "held=$id");
    client.cancel("1");

    assertThat(cancelled.take()).isEmpty();
    MessageSource next = client.call("2", "me=$id; id=$held; reply '{}'; id=$me; reply '{}'");
    assertThat(drain(next)).containsExactly(response("2", "{}"));
    assertThat(server.received()).anyMatch(line -> line.contains("notifications/cancelled"));
  }

  @Test
  void shouldEndCancelledRequest() {
    var asked = CompletableFuture.supplyAsync(() -> client.ask("1", "held=$id"));
    await().until(() -> server.received().size() == 2);

    client.cancel("1");

    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(asked::join)
        .withCauseInstanceOf(UpstreamException.Broken.class);
  }

  @Test
  void shouldRefuseIdInUse() {
    MessageSource first = client.call("1", "held=$id");

    Answer second =
        client.session().request(StdioClient.body(ShellServer.request("1", "tools/call", "")));

    assertThat(second).isInstanceOf(Answer.Json.class);
    assertThat(StdioClient.text(((Answer.Json) second).json())).contains(ID_IN_USE, "\"id\":1");
    String twice = ShellServer.request("2", "tools/call", "");
    assertThat(drain(client.stream("[" + twice + "," + twice + "]")))
        .hasSize(2)
        .allMatch(error -> error.contains(ID_IN_USE));
    client.tell("id=$held; reply '{}'");
    assertThat(drain(first)).containsExactly(response("1", "{}"));
  }

  @Test
  void shouldTimeOutSilentCall() {
    server.idleTimeout(Duration.ofSeconds(2));
    reopen();
    MessageSource stream = client.call("1", "log a");

    assertThat(take(stream, 1)).containsExactly(logged("a"));
    assertThatExceptionOfType(UpstreamException.TimedOut.class).isThrownBy(stream::take);
    assertThat(stream.take()).isEmpty();
    await()
        .untilAsserted(() ->
            assertThat(server.received())
                .last()
                .asString()
                .contains("notifications/cancelled", "\"requestId\":1,"));
    assertThat(client.ask("2", "reply '{}'")).contains("\"result\"");
  }

  @Test
  void shouldTimeOutUnansweredRequest() {
    server.firstByteTimeout(Duration.ofMillis(500));
    reopen();

    assertThatExceptionOfType(UpstreamException.TimedOut.class)
        .isThrownBy(() -> client.ask("1", ""));
    assertThat(client.ask("2", "reply '{}'")).contains("\"result\"");
  }

  @Test
  void shouldBoundWaitForProcessThatDoesNotRead() {
    server.firstByteTimeout(Duration.ofSeconds(1));
    reopen();
    // More than a pipe holds.
    String large = " ".repeat(90_000);
    client.tell("sleep 1000");

    assertThatExceptionOfType(UpstreamException.TimedOut.class)
        .isThrownBy(() -> client.ask("1", "reply '{}'" + large));
    assertThatExceptionOfType(UpstreamException.Unreachable.class)
        .isThrownBy(() -> client.ask("2", "reply '{}'"));
    assertThatExceptionOfType(UpstreamException.Unreachable.class)
        .isThrownBy(() -> client.tell("log a"));
  }

  @Test
  void shouldNotResumeStreams() {
    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> client.session().resume("1"));
  }
}
