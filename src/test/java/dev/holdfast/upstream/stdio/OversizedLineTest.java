package dev.holdfast.upstream.stdio;

import static dev.holdfast.upstream.stdio.StdioClient.drain;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.OversizedMessage;
import dev.holdfast.upstream.UpstreamException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Messages of a process that are larger than the limit of {@link ShellServer}, 100,000 bytes. */
@Timeout(60)
class OversizedLineTest {

  private static final String LARGE = "head -c 150000 /dev/zero | tr '\\0' x";
  private static final String OK = "{\"ok\":true}";

  @TempDir private Path directory;

  private final Deque<StdioUpstream> opened = new ArrayDeque<>();

  @AfterEach
  void close() {
    opened.forEach(StdioUpstream::close);
  }

  @Test
  void shouldFailItsCallAlone() {
    StdioClient client = open();
    MessageSource other = client.call("1", "other=$id");
    MessageSource call =
        client.call(
            "2",
            "printf '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a\":\"'; "
                + LARGE
                + "; say '\"}}'");

    assertTooLarge(call);
    client.tell("id=$other; reply '" + OK + "'");
    assertThat(drain(other)).containsExactly(StdioClient.response("1", OK));
    assertThat(client.ask("3", "reply '" + OK + "'")).contains("ok");
  }

  @Test
  void shouldFindAnIdAtTheEnd() {
    StdioClient client = open();
    MessageSource other = client.call("1", "other=$id");
    MessageSource call =
        client.call(
            "2",
            "printf '{\"result\":{\"id\":1,\"a\":\"'; "
                + LARGE
                + "; say '\"},\"jsonrpc\":\"2.0\",\"id\":2}'");

    assertTooLarge(call);
    client.tell("id=$other; reply '" + OK + "'");
    assertThat(drain(other)).hasSize(1);
  }

  /** A list, say, has no stream that could end with an error. */
  @Test
  void shouldFailARequestThatWaits() {
    StdioClient client = open();

    assertThatExceptionOfType(UpstreamException.TooLarge.class)
        .isThrownBy(() ->
            client.ask(
                "1",
                "printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"'; " + LARGE + "; say '\"}'"));
    assertThat(client.ask("2", "reply '" + OK + "'")).contains("ok");
  }

  @Test
  void shouldDropANotification() {
    StdioClient client = open();
    String large =
        "printf '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":\"'; "
            + LARGE
            + "; say '\"}'";
    MessageSource call = client.call("1", large + "; reply '" + OK + "'");

    assertThat(drain(call)).containsExactly(StdioClient.response("1", OK));
    try (LoggedLines log = new LoggedLines(OversizedMessage.class)) {
      log.awaitRepeating(
          "message dropped, too large upstream=sh bytes=150062 holdfast.limits.server-message-bytes=100000",
          () -> client.tell(large));
    }
  }

  @Test
  void shouldRefuseARequestOfTheServer() {
    ShellServer server = new ShellServer(directory);
    StdioClient client = open(server);
    MessageSource call =
        client.call(
            "1",
            "call=$id; printf '{\"jsonrpc\":\"2.0\",\"id\":\"ask\",\"method\":\"sampling/createMessage\",\"params\":\"'; "
                + LARGE
                + "; say '\"}'");

    await()
        .until(() ->
            server.received().stream()
                .anyMatch(line -> line.contains("\"id\":\"ask\",\"error\":{\"code\":-32600")));
    client.tell("id=$call; reply '" + OK + "'");
    assertThat(drain(call)).hasSize(1);
  }

  @Test
  void withoutACertainIdShouldFailAllOpenCalls() {
    StdioClient client = open();
    MessageSource other = client.call("1", "");
    MessageSource call =
        client.call(
            "2",
            "printf '[{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"'; " + LARGE + "; say '\"}]'");

    assertTooLarge(call);
    assertTooLarge(other);
    assertThat(client.ask("3", "reply '" + OK + "'")).contains("ok");
  }

  /** What a program prints by mistake answers nobody. */
  @Test
  void shouldIgnoreALineThatIsNoMessage() {
    StdioClient client = open();
    MessageSource call = client.call("1", LARGE + "; say ''; reply '" + OK + "'");

    assertThat(drain(call)).containsExactly(StdioClient.response("1", OK));
  }

  @Test
  void shouldFailOneCallOfABatch() {
    StdioClient client = open();
    String batch =
        "["
            + ShellServer.request(
                "1",
                "tools/call",
                "printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"'; "
                    + LARGE
                    + "; say '\"}'; id=2; reply '"
                    + OK
                    + "'")
            + ",{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\"}]";

    assertThat(drain(client.stream(batch)))
        .satisfiesExactly(
            error ->
                assertThat(error)
                    .startsWith("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000")
                    .contains(
                        "The server executed the request",
                        " bytes exceeds holdfast.limits.server-message-bytes (100000 bytes)"),
            response -> assertThat(response).isEqualTo(StdioClient.response("2", OK)));
  }

  /** Two processes write large lines at the same time, and there is memory for one of them. */
  @Test
  void whenMemoryIsShortShouldFailTheCall() {
    ByteBudget budget = new ByteBudget(100_000);
    StdioUpstream upstream = open(budget);
    StdioClient first = StdioClient.open(upstream);
    StdioClient second = StdioClient.open(upstream);
    String part = "head -c 70000 /dev/zero | tr '\\0' x";

    MessageSource begun =
        first.call("1", "printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"'; " + part);
    await().until(() -> budget.taken() > 50_000);
    MessageSource call =
        second.call(
            "1", "printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"'; " + part + "; say '\"}'");

    assertThatExceptionOfType(UpstreamException.TooLarge.class)
        .isThrownBy(call::take)
        .withMessageContaining("70036 bytes exceeds the memory that other messages leave");
    first.tell("say '\"}'");
    assertThat(drain(begun)).singleElement().asString().hasSize(70_036);
    begun.close();
    await().until(() -> budget.taken() == 0);
  }

  /** A pump that waits for the store holds the message. */
  @Test
  void shouldCountAMessageUntilItsReaderWantsMore() {
    ByteBudget budget = new ByteBudget(1_000_000);
    StdioUpstream upstream = open(budget);
    StdioClient client = StdioClient.open(upstream);
    MessageSource call =
        client.call(
            "1",
            "printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"'; head -c 70000 /dev/zero | tr '\\0' x; say '\"}'");

    assertThat(call.take()).hasSize(1);
    assertThat(budget.taken()).isGreaterThanOrEqualTo(70_000);
    assertThat(call.take()).isEmpty();
    await().until(() -> budget.taken() == 0);
  }

  private StdioClient open() {
    return open(new ShellServer(directory));
  }

  private StdioClient open(ShellServer server) {
    opened.push(server.upstream());
    return StdioClient.open(opened.element());
  }

  private StdioUpstream open(ByteBudget budget) {
    opened.push(new StdioUpstream(new ShellServer(directory).settings(), budget));
    return opened.element();
  }

  private static void assertTooLarge(MessageSource call) {
    assertThatExceptionOfType(UpstreamException.TooLarge.class)
        .isThrownBy(call::take)
        .satisfies(failure ->
            assertThat(failure.clientMessage())
                .matches(
                    "The server executed the request, but its response of 150\\d{3} bytes exceeds"
                        + " holdfast.limits.server-message-bytes \\(100000 bytes\\)"));
  }
}
