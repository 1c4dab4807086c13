package dev.holdfast.faults;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls with more events than fit into memory. A page of 128 such events once made each resumption
 * fail, and four of them ended the gateway.
 */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class LargeReplayIT {

  private static final int EVENTS = 150;
  private static final int BYTES = 1_000_000;
  private static final int BEFORE_THE_CUT = 20;
  private static final int CALLS = 2;
  private static final Pattern NUMBER = Pattern.compile("\"n\":(\\d+)");
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final RedisFixture redis = RedisFixture.start();
  private final FloodServer server = new FloodServer();
  private final List<Gateway> gateways = new ArrayList<>();

  @BeforeEach
  void start() {
    for (int i = 0; i < 2; i++) {
      gateways.add(
          Gateway.start(
              Map.of(
                  "holdfast.store", "redis",
                  "quarkus.redis.hosts", redis.url(),
                  "holdfast.upstream.url", server.url().toString()),
              "-Xmx128m",
              "-XX:+ExitOnOutOfMemoryError",
              "-XX:+UseSerialGC",
              "-XX:TieredStopAtLevel=1"));
    }
  }

  @AfterEach
  void stop() {
    gateways.forEach(Gateway::close);
    server.close();
    redis.close();
  }

  @Test
  void shouldResumeOnAnotherReplicaInBoundedMemory() throws Exception {
    List<Callable<Reader>> calls = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      calls.add(this::callCutAndResume);
    }

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<Reader> call : threads.invokeAll(calls)) {
        assertThat(call.get().seen).isEqualTo(EVENTS);
        assertThat(call.get().complete).isTrue();
      }
    }

    assertThat(gateways).allMatch(Gateway::isReady);
  }

  private Reader callCutAndResume() throws IOException, InterruptedException {
    String session = McpClient.at(gateways.getFirst().url()).ready().session();
    Reader reader = new Reader();
    HttpRequest.Builder call =
        request(gateways.getFirst().url(), session)
            .POST(HttpRequest.BodyPublishers.ofString(FloodServer.flood(1, EVENTS, BYTES, 0)));
    reader.read(call, BEFORE_THE_CUT);
    assertThat(reader.seen).isEqualTo(BEFORE_THE_CUT);
    while (!reader.complete) {
      int before = reader.seen;
      HttpRequest.Builder resume = request(gateways.getLast().url(), session);
      reader.read(resume.header("Last-Event-ID", reader.lastId), Integer.MAX_VALUE);
      if (reader.head.startsWith("503")) {
        // Redis may take long on a busy machine. Retry-After says one second.
        Thread.sleep(1000);
        continue;
      }
      assertThat(reader.complete || reader.seen > before)
          .as("%s makes progress: %s\n%s", reader, reader.head, gateways.getLast().output())
          .isTrue();
    }
    return reader;
  }

  private static HttpRequest.Builder request(URI endpoint, String session) {
    return HttpRequest.newBuilder(endpoint)
        .header("Accept", "application/json, text/event-stream")
        .header("Content-Type", "application/json")
        .header("Mcp-Session-Id", session)
        .header("MCP-Protocol-Version", McpClient.NEWEST);
  }

  /** Reads events without keeping them, and checks that none is missing or comes twice. */
  private static final class Reader {

    private String id = "";
    private String data = "";
    private String lastId = "";
    private int seen;
    private boolean complete;
    private String head = "";

    void read(HttpRequest.Builder request, int most) throws IOException, InterruptedException {
      data = "";
      HttpResponse<InputStream> answer = HTTP.send(request.build(), BodyHandlers.ofInputStream());
      head = answer.statusCode() + " " + answer.headers().map();
      try (InputStream body = answer.body()) {
        BufferedReader lines = new BufferedReader(new InputStreamReader(body, US_ASCII));
        String line = lines.readLine();
        while (line != null && seen < most) {
          take(line);
          line = lines.readLine();
        }
      }
    }

    private void take(String line) {
      if (line.startsWith("id:")) {
        id = line.substring("id:".length()).strip();
      } else if (line.startsWith("data:")) {
        data = line;
      } else if (line.isEmpty()) {
        event();
        lastId = id;
        data = "";
      }
    }

    private void event() {
      Matcher number = NUMBER.matcher(data.substring(0, Math.min(data.length(), 200)));
      if (number.find()) {
        assertThat(data).hasSizeGreaterThan(BYTES);
        assertThat(Integer.parseInt(number.group(1))).isEqualTo(seen + 1);
        seen++;
      }
      complete |= data.contains("\"result\"");
    }

    @Override
    public String toString() {
      return "%d events up to %s".formatted(seen, lastId);
    }
  }
}
