package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checks back-pressure for a client that does not read. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class SlowClientTest {

  private static final int MESSAGES = 6000;
  private static final Pattern PRIMING = Pattern.compile("id: ?(\\w+_0-0)\n");

  @Inject ControlledTool tool;

  @Test
  void shouldNotBufferForAClientThatDoesNotRead() throws IOException {
    McpClient slow = McpClient.at(GatewayUrl.mcp());
    String key = UUID.randomUUID().toString();
    double appended = Metrics.of(Metrics.APPENDED);
    try (NonReadingClient nonReading = callWithoutReading(slow, key)) {
      String start = primingId(nonReading);
      tool.sendAndFinish(key, MESSAGES, 1000);

      await().until(() -> Metrics.of(Metrics.HELD_BACK) == 1);
      // The tool waits for its client: the log is only a window ahead of the connection.
      assertThat(Metrics.of(Metrics.APPENDED) - appended).isLessThan(MESSAGES);
      McpClient other = McpClient.at(GatewayUrl.mcp());
      ControlledCall call = ControlledCall.start(other, tool);
      call.assertContinues(call.stream(), 1);

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
    McpClient slow = McpClient.at(GatewayUrl.mcp());
    String key = UUID.randomUUID().toString();
    try (NonReadingClient nonReading = callWithoutReading(slow, key)) {
      tool.sendAndFinish(key, MESSAGES, 1000);
      await().until(() -> Metrics.of(Metrics.HELD_BACK) == 1);

      String all = nonReading.readUntil("\r\n0\r\n\r\n");

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

  private static NonReadingClient callWithoutReading(McpClient client, String key) {
    return NonReadingClient.connect(GatewayUrl.mcp())
        .post(
            client.session(),
            """
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":\
            {"name":"manual","arguments":{"key":"%s"}}}\
            """
                .formatted(key));
  }

  private static String primingId(NonReadingClient client) throws IOException {
    Matcher priming = PRIMING.matcher(client.readUntil("_0-0\n"));
    assertThat(priming.find()).isTrue();
    return priming.group(1);
  }
}
