package dev.holdfast.bridge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.relay.ScriptedUpstream;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.LogLevelStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A client that writes all its messages at once and ends. */
class StdioBridgeTest {

  private static final int LONGEST = 300;
  private static final String INITIALIZE =
      """
      {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
      "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\
      """;
  private static final String INITIALIZED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

  /** Returns the lines that the client gets. */
  private static List<String> told(String... said) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    String input = String.join("\n", said) + "\n";
    try (LocalUpstream upstream =
            new LocalUpstream(
                new LocalUpstream.ServerFeatures(List.of(), List.of(), List.of()),
                new LogLevelStore.InMemory(),
                "server",
                "1");
        StdioBridge bridge = new StdioBridge(upstream, out, LONGEST)) {
      assertThat(bridge.run(new ByteArrayInputStream(input.getBytes(UTF_8)))).isTrue();
    }
    return out.toString(UTF_8).lines().toList();
  }

  private static String ping(int id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"ping\"}";
  }

  @Test
  void shouldAnswerRequestsAfterClientEnded() {
    List<String> told = told(INITIALIZE, INITIALIZED, ping(1), "", ping(2));

    assertThat(told).hasSize(3);
    assertThat(told.getFirst()).contains("\"id\":0", "\"protocolVersion\":\"2025-11-25\"");
    assertThat(told)
        .anyMatch(line -> line.contains("\"id\":1") && line.contains("\"result\""))
        .anyMatch(line -> line.contains("\"id\":2") && line.contains("\"result\""));
  }

  @Test
  void beforeInitializeShouldRefuse() {
    assertThat(told(ping(1)))
        .singleElement()
        .asString()
        .contains("\"id\":1", "\"error\"", "initialize comes first");
  }

  @Test
  void shouldContinueAfterUnreadableLines() {
    List<String> told = told("{oops", "x".repeat(LONGEST + 2), INITIALIZE, ping(1));

    assertThat(told).hasSize(4);
    assertThat(told.get(0)).contains("-32700");
    assertThat(told.get(1)).contains("-32600", "longer than 300 bytes");
  }

  @Test
  void shouldPassOnErrorOfInitialize() {
    String wrong = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}";

    assertThat(told(wrong, ping(1)))
        .hasSize(2)
        .allMatch(line -> line.contains("\"error\""))
        .anyMatch(line -> line.contains("-32602"));
  }

  private static final String NOTIFICATION =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9}}";

  private final ScriptedUpstream server = new ScriptedUpstream();

  /** A client that writes to a bridge in front of the server, which a test controls. */
  private final class Client implements AutoCloseable {

    private final PipedOutputStream to = new PipedOutputStream();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final StdioBridge bridge = new StdioBridge(server, out, LONGEST);
    private final Thread running;

    Client(String... lines) throws IOException {
      PipedInputStream from = new PipedInputStream(to, 1 << 16);
      running = Thread.ofVirtual().start(() -> bridge.run(from));
      say(lines);
    }

    void say(String... lines) throws IOException {
      to.write((String.join("\n", lines) + "\n").getBytes(UTF_8));
      to.flush();
    }

    @Override
    public void close() throws IOException {
      to.close();
      bridge.close();
      running.interrupt();
    }
  }

  @Test
  void shouldLogWhyItOpensNoSession() throws Exception {
    server.handshake =
        () -> {
          throw new UpstreamException.Refused(403, null, null);
        };
    try (LoggedLines log = new LoggedLines(StdioBridge.class);
        Client _ = new Client(INITIALIZE)) {
      log.await("session not opened reason=the upstream refused with status 403");
    }
  }

  @Test
  void shouldLogWhatItCannotDeliver() throws Exception {
    try (LoggedLines log = new LoggedLines(StdioBridge.class);
        Client client = new Client(INITIALIZE, INITIALIZED)) {
      await().until(() -> server.sent.size() == 1);
      server.sendFailure = new UpstreamException.Refused(400, null, null);
      client.say(NOTIFICATION);

      log.await("client message not delivered reason=the upstream refused with status 400");
    }
  }

  /** Sending may take minutes, in which the client must be heard. */
  @Test
  void shouldReadOnWhileItSendsInitialized() throws Exception {
    CountDownLatch sent = new CountDownLatch(1);
    List<String> order = new CopyOnWriteArrayList<>();
    server.onSend =
        () -> {
          try {
            sent.await();
            order.add("initialized");
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
          }
        };
    server.answer =
        _ -> {
          order.add("request");
          return new Answer.Json("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}".getBytes(UTF_8));
        };
    try (Client client = new Client(INITIALIZE, INITIALIZED, ping(1), "{oops")) {
      await().until(() -> client.out.toString(UTF_8).contains("-32700"));
      assertThat(order).isEmpty();

      sent.countDown();

      await().until(() -> client.out.toString(UTF_8).contains("\"id\":1"));
      assertThat(order).containsExactly("initialized", "request");
    }
  }

  @Test
  void shouldLogThatTheServerLostItsSession() throws Exception {
    ScriptedSource unasked = new ScriptedSource();
    server.listen = () -> Optional.of(unasked);
    try (LoggedLines log = new LoggedLines("dev.holdfast.bridge");
        Client _ = new Client(INITIALIZE, INITIALIZED)) {
      await().until(() -> !server.listenedAfter.isEmpty());
      server.handshake =
          () -> {
            throw new UpstreamException.Refused(503, null, null);
          };
      unasked.fail(new UpstreamException.SessionGone());

      log.await("server lost the session; the bridge opens another one");
      log.await("session not reopened reason=the upstream refused with status 503");
    }
  }

  @Test
  void shouldLogHowItsClientEnded() throws Exception {
    server.answerWithStream();
    InputStream broken = InputStream.nullInputStream();
    broken.close();
    try (LoggedLines log = new LoggedLines(StdioBridge.class);
        StdioBridge bridge = new StdioBridge(server, new ByteArrayOutputStream(), LONGEST);
        StdioBridge other = new StdioBridge(server, new ByteArrayOutputStream(), LONGEST)) {
      assertThat(bridge.run(broken)).isFalse();
      log.await("client input broke reason=Stream closed");

      String lines = String.join("\n", INITIALIZE, INITIALIZED, ping(1)) + "\n";
      assertThat(other.run(new ByteArrayInputStream(lines.getBytes(UTF_8)))).isTrue();
      log.await("bridge stops with open requests: the client has ended");
    }
  }
}
