package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tools that use all CPU threads do not delay other sessions. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class BusyToolsTest {

  private static final int CPU_THREADS = GatewayProfiles.Default.COMPUTE_THREADS;

  /** Computes for minutes, unless it is cancelled. */
  private static final String PRIMES =
      """
      {"jsonrpc":"2.0","id":1,"method":"tools/call","params":\
      {"name":"primes","arguments":{"upTo":1000000000}}}\
      """;

  private static final String CANCELLED =
      """
      {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\
      """;

  @Test
  void shouldServeOtherSessionsWhileToolsCompute() {
    McpClient other = McpClient.at(GatewayUrl.mcp());
    // Warm up: the first requests are slower.
    medianPing(other);
    streamDuration(other);
    Duration idlePing = medianPing(other);
    Duration idleStream = streamDuration(other);
    List<McpClient> busy =
        IntStream.range(0, 4 * CPU_THREADS).mapToObj(_ -> McpClient.at(GatewayUrl.mcp())).toList();
    List<FrameStream> calls = busy.stream().map(client -> client.stream(PRIMES)).toList();
    await().until(BusyToolsTest::computing, running -> running == CPU_THREADS);

    Duration busyPing = medianPing(other);
    Duration busyStream = streamDuration(other);

    // If the tools delayed other sessions, the delay would last minutes.
    assertThat(computing()).isEqualTo(CPU_THREADS);
    assertThat(busyPing).isLessThan(idlePing.multipliedBy(20).plusSeconds(5));
    assertThat(busyStream).isLessThan(idleStream.multipliedBy(5).plusSeconds(20));
    busy.forEach(client -> assertThat(client.post(CANCELLED).statusCode()).isEqualTo(202));
    assertThat(calls).allSatisfy(call -> assertThat(call.events()).isEmpty());
    await().until(BusyToolsTest::computing, running -> running == 0);
  }

  private static long computing() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(entry -> entry.getKey().getName().equals("holdfast-tool-cpu"))
        .filter(entry ->
            Arrays.stream(entry.getValue())
                .anyMatch(frame -> frame.getMethodName().equals("countPrimes")))
        .count();
  }

  private static Duration medianPing(McpClient client) {
    long[] took =
        LongStream.range(0, 40)
            .map(id -> {
              long from = System.nanoTime();
              assertThat(
                      client
                          .post("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}".formatted(id))
                          .statusCode())
                  .isEqualTo(200);
              return System.nanoTime() - from;
            })
            .sorted()
            .toArray();
    return Duration.ofNanos(took[took.length / 2]);
  }

  /** Measures a call that sends twenty events, one every ten milliseconds. */
  private static Duration streamDuration(McpClient client) {
    long from = System.nanoTime();
    try (FrameStream stream =
        client.stream(
            """
            {"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"countdown",\
            "arguments":{"from":20,"intervalMs":10},"_meta":{"progressToken":"t"}}}\
            """)) {
      assertThat(stream.events()).hasSize(21);
    }
    return Duration.ofNanos(System.nanoTime() - from);
  }
}
