package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Thousands of calls, half as many in a build, that nobody follows when their replica is lost. */
@Timeout(180)
class ManyStreamsIT {

  private static final int SESSIONS = 40;
  private static final int CALLS = LongRun.REQUESTED ? 50 : 25;
  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");

  /** How many streams are open, in all sessions. */
  private static final String OPEN =
      """
      local open = 0
      for _, key in ipairs(redis.call('KEYS', 'holdfast:{*}')) do
        local isHash = redis.call('TYPE', key).ok == 'hash'
        for _, field in ipairs(isHash and redis.call('HKEYS', key) or {}) do
          open = open + (string.sub(field, 1, 2) == 'o:' and 1 or 0)
        end
      end
      return open
      """;

  private final RedisFixture redis = RedisFixture.start();
  private final ScriptedServer server = ScriptedServer.playing(ManyStreamsIT::play);
  private final Gateway owner = gateway();
  private final Gateway survivor = gateway();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /** One client and, by call, the last event that it has seen. */
  private record Called(McpClient client, List<String> lastIds) {}

  private Gateway gateway() {
    // A busy machine is slow; that Redis is away is not the question.
    return Gateway.start(
        redis.gatewaySettings(
            "holdfast.upstream.url", server.url().toString(), "holdfast.redis.timeout", "10s"));
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    survivor.close();
    owner.close();
    server.close();
    redis.close();
  }

  /** Begins every call, and has its result only for who comes back to it. */
  private static void play(ScriptedRequest request, RawConnection wire) throws IOException {
    String begun = request.header("last-event-id");
    if (begun != null) {
      wire.beginEvents().chunk("data: " + result(begun, "{}") + "\n\n").endChunks();
    } else if (request.method().equals("GET")) {
      wire.answer(405, "", "");
    } else if (request.body().contains("\"initialize\"")) {
      String result = "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{}}";
      wire.answer(200, "application/json", result(id(request), result), "Mcp-Session-Id: theirs");
    } else if (request.body().contains("tools/call")) {
      String progress = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}";
      wire.beginEvents().chunk("id: " + id(request) + "\ndata: " + progress + "\n\n").stall();
    } else {
      wire.answer(200, "application/json", result(id(request), "{}"));
    }
  }

  private static String id(ScriptedRequest request) {
    Matcher id = ID.matcher(request.body());
    return id.find() ? id.group(1) : "null";
  }

  private static String result(String id, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}".formatted(id, result);
  }

  @Test
  void shouldTakeOverThousandsOfStreamsWhileOthersAreServed() throws Exception {
    List<Called> called = inParallel(SESSIONS, this::callAndGo);
    McpClient other = McpClient.at(survivor.url());
    assertThat(open()).isEqualTo(SESSIONS * CALLS);

    owner.kill();
    long slowest = 0;
    long killed = System.nanoTime();
    do {
      long asked = System.nanoTime();
      assertThat(other.post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}").statusCode())
          .isEqualTo(200);
      slowest = Math.max(slowest, System.nanoTime() - asked);
    } while (open() > 0 && System.nanoTime() - killed < Duration.ofSeconds(60).toNanos());
    System.out.printf(
        "%d streams taken over in %d ms; slowest ping meanwhile %d ms%n",
        SESSIONS * CALLS,
        Duration.ofNanos(System.nanoTime() - killed).toMillis(),
        Duration.ofNanos(slowest).toMillis());

    assertThat(open()).as(survivor.output()).isZero();
    for (List<String> answers : inParallel(SESSIONS, i -> answers(called.get(i)))) {
      assertThat(answers)
          .as(survivor.output())
          .containsExactlyElementsOf(
              IntStream.rangeClosed(1, CALLS)
                  .mapToObj(id -> result(Integer.toString(id), "{}"))
                  .toList());
    }
  }

  private Called callAndGo(int i) {
    McpClient client = McpClient.at(owner.url());
    List<String> ids = new ArrayList<>();
    for (int call = 0; call < CALLS; call++) {
      FrameStream stream = client.call("any", "{}");
      ids.add(stream.event().id());
      stream.cut();
    }
    return new Called(client, ids);
  }

  private List<String> answers(Called called) {
    McpClient client = called.client().elsewhere(survivor.url());
    return called.lastIds().stream()
        .flatMap(last -> client.resume(last).events().stream())
        .map(Frame.Event::data)
        .toList();
  }

  private int open() {
    return Integer.parseInt(redis.command("EVAL", OPEN, "0").substring(1));
  }

  /** Does something for every session at once. */
  private interface ForSession<T> {
    T apply(int session);
  }

  private <T> List<T> inParallel(int count, ForSession<T> work) throws Exception {
    List<Callable<T>> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int session = i;
      all.add(() -> work.apply(session));
    }
    List<T> done = new ArrayList<>();
    for (Future<T> each : threads.invokeAll(all)) {
      done.add(each.get());
    }
    return done;
  }
}
