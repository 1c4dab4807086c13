package dev.holdfast.faults;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.SseClient;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Floods as in {@link FlowControlFaultsIT}, over the other transports: a server over HTTP+SSE, a
 * program that writes to its pipe, and a client over HTTP with SSE.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class FloodTransportsFaultsIT {

  private static final int BURST = LongRun.REQUESTED ? 400_000 : 40_000;
  private static final int SLOW = LongRun.REQUESTED ? 40_000 : 15_000;
  private static final int BYTES = 350;
  private static final int ALL = Integer.MAX_VALUE;

  private static final String SSE = "/servers/sse/mcp";
  private static final String STDIO = "/servers/stdio/mcp";

  /** Sends as many numbered messages as it is told to, as fast as the pipe takes them. */
  private static final String PROGRAM =
      """
      while IFS= read -r line; do
        id=${line#*'"id":'}
        id=${id%%[,\\}]*}
        count=${line#*'"count":'}
        count=${count%%[,\\}]*}
        case $line in
          *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"flood","version":"1"}}}\\n' "$id" ;;
          *'"tools/call"'*)
            awk -v id="$id" -v count="$count" -v bytes=BYTES 'BEGIN {
              text = sprintf("%" bytes "s", "")
              for (n = 1; n <= count; n++)
                printf "{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"notifications/progress\\",\\"params\\":{\\"progressToken\\":%d,\\"progress\\":%d,\\"data\\":{\\"n\\":%d,\\"text\\":\\"%s\\"}}}\\n", id, n, n, text
              printf "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":%d,\\"result\\":{\\"content\\":[]}}\\n", id
            }'
            ;;
        esac
      done
      """
          .replace("BYTES", Integer.toString(BYTES));

  private final FloodServer server = new FloodServer();
  private final Map<String, String> settings = new HashMap<>();

  @TempDir private Path directory;

  @BeforeEach
  void configure() throws IOException {
    Path program = Files.writeString(directory.resolve("server.sh"), PROGRAM);
    settings.putAll(server.settings(Map.of()));
    settings.put("holdfast.upstreams.stdio.command", "sh " + program);
    settings.put("holdfast.upstreams.sse.url", server.sse().toString());
    settings.put("holdfast.upstreams.sse.transport", "sse");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void shouldDeliverEveryEventFromMemory() throws Exception {
    try (Gateway gateway = Gateway.start(settings)) {
      together(
          List.of(
              () -> fast(gateway.url(SSE)),
              () -> slow(gateway.url(SSE)),
              () -> slow(gateway.url(STDIO)),
              () -> slowSseClient(gateway)));
    }
  }

  /** With fewer events than sockets hold: Redis may be too slow to get ahead of the clients. */
  @Test
  void shouldDeliverEveryEventFromRedis() throws Exception {
    settings.put("holdfast.stream.max-events", "500");
    try (RedisFixture redis = RedisFixture.start()) {
      settings.putAll(redis.gatewaySettings());
      try (Gateway gateway = Gateway.start(settings)) {
        together(
            List.of(
                () -> fast(gateway.url(SSE)),
                () -> slow(gateway.url(SSE)),
                () -> slow(gateway.url(STDIO)),
                () -> slowSseClient(gateway)));
      }
    }
  }

  /** The program does not wait while the client moves: the replica must. */
  @Test
  void shouldDeliverEveryEventToAClientThatMoves() throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      settings.putAll(redis.gatewaySettings());
      List<Gateway> gateways = Gateway.startPair(settings);
      try {
        fastElsewhere(gateways.getFirst().url(STDIO), gateways.getLast().url(STDIO));
      } finally {
        gateways.forEach(Gateway::close);
      }
    }
  }

  private static void together(List<Callable<Void>> clients) throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<Void> client : threads.invokeAll(clients)) {
        client.get();
      }
    }
  }

  /** A call of the server, or of the program, which reports progress. */
  private static String flood(int events) {
    return FloodServer.flood(1, events, BYTES, 0)
        .replace("}}}", "},\"_meta\":{\"progressToken\":1}}}");
  }

  private static Void fast(URI endpoint) throws Exception {
    String session = McpClient.at(endpoint).ready().session();
    FloodReader.of(BYTES).call(endpoint, session, flood(BURST), ALL).assertHasAll(BURST);
    return null;
  }

  private static Void slow(URI endpoint) throws Exception {
    String session = McpClient.at(endpoint).ready().session();
    try (NonReadingClient client = NonReadingClient.connect(endpoint)) {
      client.post(session, flood(SLOW));
      FloodReader.slow(BYTES).read(client.body(), ALL).assertHasAll(SLOW);
    }
    return null;
  }

  private static void fastElsewhere(URI endpoint, URI other) throws Exception {
    String session = McpClient.at(endpoint).ready().session();
    FloodReader.of(BYTES)
        .call(endpoint, session, flood(BURST), 10)
        .resume(other, session, ALL)
        .assertHasAll(BURST);
  }

  private static Void slowSseClient(Gateway gateway) throws Exception {
    URI sse = gateway.url("/sse");
    try (NonReadingClient client = NonReadingClient.connect(sse)) {
      client.send("GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(US_ASCII));
      InputStream body = client.body();
      URI messages = sse.resolve(endpoint(body));
      SseClient.post(messages, SseClient.initialize("0", "2024-11-05"));
      FloodReader.of(BYTES).read(body, ALL);
      SseClient.post(messages, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
      SseClient.post(messages, FloodServer.flood(1, SLOW, BYTES, 0));
      FloodReader.slow(BYTES).read(body, ALL).assertHasAll(SLOW);
    }
    return null;
  }

  /** The data of the first event. */
  private static String endpoint(InputStream body) throws IOException {
    StringBuilder read = new StringBuilder();
    while (!read.toString().contains("data:") || read.charAt(read.length() - 1) != '\n') {
      read.append((char) body.read());
    }
    return read.substring(read.indexOf("data:") + "data:".length()).strip();
  }
}
