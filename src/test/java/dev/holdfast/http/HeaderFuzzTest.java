package dev.holdfast.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Corpus;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Sends heads with mutated lines, as no HTTP client would. Jazzer does not run it: Quarkus loads
 * the gateway with a class loader of its own, and the answers come from other threads.
 */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class HeaderFuzzTest {

  private static final int PATIENCE_MILLIS = 10_000;
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

  /** A client's mistake is never an error of the gateway, and nobody else notices it. */
  @Test
  void shouldAnswerEveryHeadWithoutAnErrorOfItsOwn() {
    McpClient other = McpClient.at(GatewayUrl.mcp());
    Corpus.Inputs.withRandom("headers", 200)
        .forEach(line -> {
          for (String method : List.of("GET", "POST")) {
            String status = status(method, line);

            assertThat(status)
                .as("%s with %s", method, Arrays.toString(line))
                .matches("HTTP/1\\.[01] [1-4][0-9][0-9].*|");
          }
        });
    assertThat(other.post(PING).statusCode()).isEqualTo(200);
    other.delete();
  }

  /** The line with the status; empty when the gateway closes the connection instead. */
  private static String status(String method, byte[] line) {
    byte[] body = PING.getBytes(US_ASCII);
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.writeBytes((method + " /mcp HTTP/1.1\r\nConnection: close\r\n").getBytes(US_ASCII));
    request.writeBytes(line);
    request.writeBytes("\r\nContent-Length: %d\r\n\r\n".formatted(body.length).getBytes(US_ASCII));
    request.writeBytes(body);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), GatewayUrl.mcp().getPort())) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.getOutputStream().write(request.toByteArray());
      socket.shutdownOutput();
      return firstLine(socket.getInputStream());
    } catch (SocketException closed) {
      return "";
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static String firstLine(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
      line.write(next);
    }
    return line.toString(ISO_8859_1).strip();
  }
}
