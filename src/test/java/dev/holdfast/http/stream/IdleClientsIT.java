package dev.holdfast.http.stream;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Certificates;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
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
  private static final Map<String, String> SETTINGS =
      Map.of("holdfast.demo-tools", "always", "holdfast.stream.keep-alive", "500ms");

  private static final String COUNTDOWN =
      """
      {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"countdown",\
      "arguments":{"from":3,"intervalMs":3000},"_meta":{"progressToken":"p"}}}\
      """;

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
      String session = McpClient.at(url).ready().session();
      try (Socket socket = new Socket(url.getHost(), url.getPort())) {
        String head = listening(url, session);
        socket.getOutputStream().write(head.getBytes(US_ASCII));
        readComments(socket.getInputStream());

        socket.getOutputStream().write(head.getBytes(US_ASCII));

        byte[] rest = socket.getInputStream().readAllBytes();
        assertThat(new String(rest, ISO_8859_1)).doesNotContain("HTTP/1.1");
      }
      await().until(() -> connections(gateway) == 0);
    }
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
    String comment = "4\r\n: \n\n\r\n";
    while (!read.toString().endsWith(comment.repeat(COMMENTS))) {
      int next = in.read();
      assertThat(next).as("in: %s", read).isNotNegative();
      read.append((char) next);
    }
    return read.toString();
  }
}
