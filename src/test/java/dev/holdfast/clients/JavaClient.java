package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;

/** A program on the official Java SDK, and what it saw. Nothing but the SDK's public interface. */
final class JavaClient implements AutoCloseable {
  private final McpAsyncClient client;
  private final List<Integer> progress = new CopyOnWriteArrayList<>();

  private JavaClient(URI url, Duration timeout) {
    // Asynchronous, because the synchronous one hands notifications to several threads at once,
    // which forgets their order.
    client =
        McpClient.async(
                HttpClientStreamableHttpTransport.builder(url.resolve("/").toString())
                    .resumableStreams(true)
                    .build())
            .requestTimeout(timeout)
            .progressConsumer(
                step -> Mono.fromRunnable(() -> progress.add(step.progress().intValue())))
            .build();
    client.initialize().toFuture().join();
  }

  /**
   * Connects.
   *
   * @param timeout after which a request fails that has no response
   */
  static JavaClient connect(URI url, Duration timeout) {
    return new JavaClient(url, timeout);
  }

  /** Counts, and waits for the result; fails as the SDK does. */
  void count(int n, Duration interval) {
    CallToolResult result =
        client
            .callTool(
                CallToolRequest.builder("count")
                    .arguments(Map.of("n", n, "intervalMs", interval.toMillis()))
                    .progressToken("steps")
                    .build())
            .toFuture()
            .join();
    assertThat(result.content())
        .singleElement()
        .isInstanceOfSatisfying(
            TextContent.class, text -> assertThat(text.text()).isEqualTo("counted " + n));
  }

  /** The progress values, in the order in which they came. */
  List<Integer> progress() {
    return List.copyOf(progress);
  }

  /** Checks that each value came once and in order. */
  void hasSeen(int n) {
    assertThat(progress).containsExactlyElementsOf(IntStream.rangeClosed(1, n).boxed().toList());
  }

  @Override
  public void close() {
    client.closeGracefully().toFuture().join();
  }
}
