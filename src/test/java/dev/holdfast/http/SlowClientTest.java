package dev.holdfast.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A client that connects and then does not read. */
@QuarkusTest
@TestProfile(Profiles.Usual.class)
class SlowClientTest {

  private static final int MESSAGES = 6000;
  private static final Pattern PRIMING = Pattern.compile("id: ?(\\w+_0-0)\n");

  @Inject ManualTool tool;

  @Test
  void shouldHoldNothingForAClientThatDoesNotReadAndLoseNothingOfIt() throws IOException {
    McpClient slow = McpClient.at(Endpoints.usual());
    String key = UUID.randomUUID().toString();
    double appended = Metrics.of(Metrics.APPENDED);
    double delivered = Metrics.of(Metrics.DELIVERED);
    try (Socket socket = callWithoutReading(slow, key)) {
      String start = primingId(socket);
      tool.flood(key, MESSAGES, 1000);

      await().until(() -> Metrics.of(Metrics.APPENDED) > appended + MESSAGES);
      // The server is through with its call, and the log has it all; the connection has not.
      assertThat(Metrics.of(Metrics.DELIVERED) - delivered).isLessThan(MESSAGES / 2.0);
      McpClient other = McpClient.at(Endpoints.usual());
      ManualCall call = ManualCall.begin(other, tool);
      call.assertGoesOn(call.stream(), 1);

      List<Frame.Event> events = slow.resume(start).events();
      assertThat(events)
          .extracting(Frame.Event::number)
          .containsExactlyElementsOf(LongStream.rangeClosed(1, MESSAGES + 1).boxed().toList());
      assertThat(events.getLast().data()).contains("finished");
    }
    slow.delete();
  }

  @Test
  void shouldServeAClientThatReadsAgain() throws IOException {
    McpClient slow = McpClient.at(Endpoints.usual());
    String key = UUID.randomUUID().toString();
    double appended = Metrics.of(Metrics.APPENDED);
    try (Socket socket = callWithoutReading(slow, key)) {
      tool.flood(key, MESSAGES, 1000);
      await().until(() -> Metrics.of(Metrics.APPENDED) > appended + MESSAGES);

      String all = new String(socket.getInputStream().readAllBytes(), UTF_8);

      Matcher ids = Pattern.compile("id: ?\\w+_\\d{13}-(\\d+)\n").matcher(withoutChunks(all));
      assertThat(ids.results().map(id -> Long.valueOf(id.group(1))))
          .containsExactlyElementsOf(LongStream.rangeClosed(1, MESSAGES + 1).boxed().toList());
    }
    slow.delete();
  }

  /** Chunks may begin and end anywhere. */
  private static String withoutChunks(String body) {
    return body.replaceAll("\r\n[0-9a-f]+\r\n", "");
  }

  private Socket callWithoutReading(McpClient client, String key) throws IOException {
    byte[] body =
        """
        {"jsonrpc":"2.0","id":1,"method":"tools/call","params":\
        {"name":"manual","arguments":{"key":"%s"}}}\
        """
            .formatted(key)
            .getBytes(UTF_8);
    Socket socket = new Socket();
    // Before the connection is made, or the window is already larger.
    socket.setReceiveBufferSize(4096);
    socket.setSoTimeout(20_000);
    socket.connect(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Endpoints.usual().getPort()));
    String head =
        """
        POST /mcp HTTP/1.1
        Host: localhost
        Connection: close
        Accept: application/json, text/event-stream
        Content-Type: application/json
        Mcp-Session-Id: %s
        Content-Length: %d

        """
            .formatted(client.session(), body.length)
            .replace("\n", "\r\n");
    socket.getOutputStream().write(head.getBytes(ISO_8859_1));
    socket.getOutputStream().write(body);
    return socket;
  }

  private static String primingId(Socket socket) throws IOException {
    StringBuilder read = new StringBuilder();
    Matcher priming = PRIMING.matcher(read);
    while (!priming.find()) {
      int next = socket.getInputStream().read();
      assertThat(next).as("the stream ended after %s", read).isNotNegative();
      read.append((char) next);
      priming.reset(read);
    }
    return priming.group(1);
  }
}
