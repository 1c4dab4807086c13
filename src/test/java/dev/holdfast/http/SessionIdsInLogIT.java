package dev.holdfast.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.SessionId;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.SseClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A session id is a secret. No request, good or bad, brings it into the log in full. Nor can a
 * client fill the log with lines.
 */
class SessionIdsInLogIT {

  private static final List<String> METHODS = List.of("GET", "POST", "DELETE", "OPTIONS", "BREW");
  private static final List<String> TARGETS =
      List.of(
          "/messages/%s",
          "/servers/none/messages/%s",
          "/messages/%s?session=%s",
          "/mcp?session=%s",
          "//messages/%s",
          "/messages/..;/%s",
          "/messages/%ZZ%s",
          "/messages/%s%00",
          "/messages/%s#%s",
          "/messages/%s\\",
          "/none/%s",
          "/q/%s",
          "/q/health/%s",
          "/sse/%s",
          "http://[bad/messages/%s",
          "%s");
  private static final List<String> HOSTS =
      List.of(
          "",
          "Host:\r\n",
          "Host: a b\r\n",
          "Host: [::1\r\n",
          "Host: evil.example\r\n",
          "Host: localhost:99999\r\n",
          "Host: localhost\r\n");

  private Gateway gateway;

  @BeforeEach
  void start() {
    gateway = Gateway.start(Map.of());
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  @Test
  void shouldNotLogSessionIds() throws Exception {
    McpClient client = McpClient.at(gateway.url()).ready();
    SseClient sse = SseClient.initialized(gateway.url("/sse"));
    List<String> ids = List.of(client.session(), sse.session(), SessionId.random().value());

    client.call("countdown", "{\"from\":2,\"intervalMs\":10}");
    client.resume("nonsense_" + client.session());
    client.resume(client.session() + "_m_1-1");
    for (int i = 0; i < 100; i++) {
      client.resume("malformed").close();
    }
    sse.post(SseClient.call("1", "echo", "{\"message\":1}"));
    sse.post("{oops");
    for (String id : ids) {
      for (String target : TARGETS) {
        for (String host : HOSTS) {
          assertThat(statusOf("POST " + target.replace("%s", id) + " HTTP/1.1", host, id))
              .as("%s %s", target, host)
              .isBetween(200, 499);
        }
      }
      for (String method : METHODS) {
        statusOf(method + " /messages/" + id + " HTTP/1.1", "", id);
      }
      assertThat(statusOf("POST /messages/" + id + " HTTP/1.0", "", id)).isEqualTo(400);
      statusOf("POST /messages/" + id + " HTTP/7.7", "", id);
    }
    sse.delete();
    client.delete();
    gateway.terminate();

    assertThat(gateway.awaitEnd(30)).isTrue();
    assertThat(gateway.output()).contains("Listening on").doesNotContain(ids);
    // Before, each malformed id and each wrong host had a line, of some hundreds here.
    assertThat(gateway.output().lines()).hasSizeLessThan(60);
    assertThat(gateway.output()).contains("malformed Last-Event-ID");
  }

  /** Returns the status of the response; 0 if the gateway closes the connection without one. */
  private int statusOf(String requestLine, String host, String id) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.url().getPort())) {
      socket.setSoTimeout(20_000);
      String head =
          "%s\r\n%sMcp-Session-Id: %s\r\nLast-Event-ID: %s\r\nContent-Type: application/json\r\n"
              .formatted(requestLine, host, id, id);
      String request = head + "Content-Length: 2\r\nConnection: close\r\n\r\n{}";
      socket.getOutputStream().write(request.getBytes(ISO_8859_1));
      String response = new String(socket.getInputStream().readNBytes(12), ISO_8859_1);
      return response.isEmpty() ? 0 : Integer.parseInt(response.substring(9));
    }
  }
}
