package dev.holdfast.http.stream;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Certificates;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.StatelessClient;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that wait for so long that they were sent comments. The gateway has forgotten their
 * requests by then, and has their sockets only.
 */
@Timeout(120)
class IdleClientsIT {

  private static final int COMMENTS = 3;

  /** So many comments, one after the other, are those of a gateway that does not look. */
  private static final int MANY = 40;

  private static final String COMMENT = "4\r\n: \n\n\r\n";
  private static final int SILENCE_MILLIS = 30_000;
  private static final Map<String, String> SETTINGS =
      Map.of("holdfast.demo-tools", "always", "holdfast.stream.keep-alive", "500ms");

  private static final String COUNTDOWN =
      """
      {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"countdown",\
      "arguments":{"from":3,"intervalMs":3000},"_meta":{"progressToken":"p"}}}\
      """;

  private static final String ONE_STEP = "{\"from\":1,\"intervalMs\":4000}";

  private static Gateway start(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(SETTINGS);
    settings.putAll(more);
    return Gateway.start(settings);
  }

  /** Waits until the client has had some comments since its last event. */
  private static void idle(FrameStream stream) {
    for (int comments = 0; comments < COMMENTS; ) {
      comments = stream.next() instanceof Frame.Comment ? comments + 1 : 0;
    }
  }

  private static double connections(Gateway gateway) {
    return gateway.metric("holdfast_connections_active ").orElseThrow();
  }

  @Test
  void shouldGetEventsAfterALongWait() {
    try (Gateway gateway = start(Map.of())) {
      McpClient client = McpClient.at(gateway.url()).ready();
      FrameStream call = client.stream(COUNTDOWN);
      String first = call.event().id();
      call.cut();

      FrameStream resumed = client.resume(first);
      idle(resumed);
      List<Frame> rest = resumed.rest();

      assertThat(rest).last().isEqualTo(new Frame.End(true));
      assertThat(resumed.raw()).containsOnlyOnce("\"result\"");
      List<Long> numbers =
          rest.stream()
              .filter(Frame.Event.class::isInstance)
              .map(frame -> ((Frame.Event) frame).number())
              .toList();
      assertThat(numbers).isSorted().doesNotHaveDuplicates().isNotEmpty();
      assertThat(resumed.headers().firstValue("Connection")).contains("close");
      await().until(() -> connections(gateway) == 0);
    }
  }

  @Test
  void shouldNoticeThatAnIdleClientLeaves() {
    try (Gateway gateway = start(Map.of())) {
      FrameStream waiting = McpClient.at(gateway.url()).ready().listen();
      idle(waiting);
      assertThat(connections(gateway)).isEqualTo(1);

      waiting.cut();

      await().until(() -> connections(gateway) == 0);
    }
  }

  @Test
  void shouldGiveWayToANewerConnection() {
    try (Gateway gateway = start(Map.of())) {
      McpClient client = McpClient.at(gateway.url()).ready();
      FrameStream older = client.listen();
      idle(older);

      FrameStream newer = client.listen();
      idle(newer);

      List<Frame> rest = older.rest();
      assertThat(rest).hasAtLeastOneElementOfType(Frame.Retry.class);
      assertThat(rest).last().isEqualTo(new Frame.End(true));
      assertThat(connections(gateway)).isEqualTo(1);
    }
  }

  @Test
  void shouldSendIdleClientsAwayWhenItStops() throws Exception {
    try (Gateway gateway = start(Map.of())) {
      FrameStream waiting = McpClient.at(gateway.url()).ready().listen();
      idle(waiting);

      gateway.terminate();
      List<Frame> rest = waiting.rest();

      assertThat(rest).hasAtLeastOneElementOfType(Frame.Retry.class);
      assertThat(rest).last().isEqualTo(new Frame.End(true));
      assertThat(gateway.awaitEnd(60)).isTrue();
    }
  }

  /** Its response said that no further request is read on this connection. */
  @Test
  void shouldCloseTheConnectionOfAClientThatSendsMore() throws IOException {
    try (Gateway gateway = start(Map.of())) {
      URI url = gateway.url();
      byte[] get = listening(url, McpClient.at(url).ready().session()).getBytes(US_ASCII);

      assertThat(afterComments(gateway, get, get)).doesNotContain("HTTP/1.1");
    }
  }

  /** A client without a session waits with {@code POST}. */
  @Test
  void shouldForgetARequestThatSubscribes() throws IOException {
    try (Gateway gateway = start(Map.of())) {
      StatelessClient client = StatelessClient.at(gateway.url());
      byte[] subscribing =
          client.raw("subscriptions/listen", "{\"notifications\":{\"toolsListChanged\":true}}");
      byte[] next = client.raw("tools/list", "{}");

      assertThat(afterComments(gateway, subscribing, next)).doesNotContain("HTTP/1.1");
    }
  }

  /** Once it was sent to the server, nobody counts its bytes. */
  @Test
  void shouldKeepNoBodyOfAClientThatSubscribes() {
    String params = "{\"notifications\":{},\"filler\":\"" + "x".repeat(3 << 20) + "\"}";
    try (Gateway gateway = Gateway.start(SETTINGS, "-Xmx128m")) {
      StatelessClient client = StatelessClient.at(gateway.url());
      List<FrameStream> waiting = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        FrameStream stream = client.stream("subscriptions/listen", params);
        assertThat(stream.event().data()).contains("acknowledged");
        waiting.add(stream);
      }
      idle(waiting.getFirst());
      idle(waiting.getLast());
      waiting.forEach(FrameStream::cut);
    }
  }

  /** A tool keeps its arguments. */
  @Test
  void shouldRefuseLargeCallsBesideThoseThatRun() {
    String params =
        "{\"name\":\"countdown\",\"arguments\":{\"from\":2,\"intervalMs\":%d},\"filler\":\"%s\"}";
    String filler = "x".repeat(3 << 20);
    try (Gateway gateway = Gateway.start(SETTINGS, "-Xmx128m")) {
      StatelessClient client = StatelessClient.at(gateway.url());
      List<FrameStream> calls = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        calls.add(client.stream("tools/call", params.formatted(30_000, filler)));
      }
      assertThat(calls).map(FrameStream::status).containsOnly(200, 503).contains(200, 503);
      calls.forEach(FrameStream::cut);
      await()
          .until(() -> client.post("tools/call", params.formatted(1, filler)).statusCode() == 200);
    }
  }

  /** It may use its connection for the next call. */
  @Test
  void shouldKeepTheConnectionOfACall() throws IOException {
    try (Gateway gateway = start(Map.of())) {
      StatelessClient client = StatelessClient.at(gateway.url());
      byte[] call = client.raw("tools/call", StatelessClient.params("countdown", ONE_STEP));
      byte[] next = client.raw("tools/list", "{}");

      assertThat(afterComments(gateway, call, next)).contains("\"result\"", "HTTP/1.1 200");
    }
  }

  /**
   * Sends a request, waits for comments, and sends another one on the same connection.
   *
   * @return what came then, until the gateway closed the connection or had answered both
   */
  private static String afterComments(Gateway gateway, byte[] first, byte[] second)
      throws IOException {
    URI url = gateway.url();
    StringBuilder read = new StringBuilder();
    try (Socket socket = new Socket(url.getHost(), url.getPort())) {
      socket.setSoTimeout(SILENCE_MILLIS);
      InputStream in = socket.getInputStream();
      socket.getOutputStream().write(first);
      readComments(in);

      socket.getOutputStream().write(second);
      while (read.indexOf("\"tools\":") < 0) {
        int next = in.read();
        if (next < 0) {
          break;
        }
        read.append((char) next);
        assertThat(read).doesNotContain(COMMENT.repeat(MANY));
      }
    }
    await().until(() -> connections(gateway) == 0);
    return read.toString();
  }

  @Test
  void shouldKeepTls(@TempDir Path directory) throws Exception {
    Certificates authority = new Certificates(directory, "ours");
    Certificates.Identity server = authority.issue("server", Certificates.LOOPBACK);
    Map<String, String> tls =
        Map.of(
            "quarkus.http.ssl-port",
            "0",
            "quarkus.http.tls-configuration-name",
            "own",
            "quarkus.tls.own.key-store.p12.path",
            server.keyStore().toString(),
            "quarkus.tls.own.key-store.p12.password",
            "changeit");
    try (Gateway gateway = start(tls)) {
      URI url = gateway.url();
      String session = McpClient.at(url).ready().session();
      Matcher port = Pattern.compile("https://[^:]+:(\\d+)").matcher(gateway.output());
      assertThat(port.find()).isTrue();
      try (Socket socket =
          authority
              .context(null)
              .getSocketFactory()
              .createSocket("127.0.0.1", Integer.parseInt(port.group(1)))) {
        socket.getOutputStream().write(listening(url, session).getBytes(US_ASCII));

        assertThat(readComments(socket.getInputStream())).startsWith("HTTP/1.1 200");
      }
      await().until(() -> connections(gateway) == 0);
    }
  }

  private static String listening(URI url, String session) {
    return "GET /mcp HTTP/1.1\r\nHost: localhost:"
        + url.getPort()
        + "\r\nAccept: text/event-stream\r\nMcp-Session-Id: "
        + session
        + "\r\n\r\n";
  }

  /** Reads until some comments have come, each as a chunk. */
  private static String readComments(InputStream in) throws IOException {
    StringBuilder read = new StringBuilder();
    while (!read.toString().endsWith(COMMENT.repeat(COMMENTS))) {
      int next = in.read();
      assertThat(next).as("in: %s", read).isNotNegative();
      read.append((char) next);
    }
    return read.toString();
  }
}
