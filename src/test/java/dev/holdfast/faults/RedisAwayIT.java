package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ToolRequest;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls in the middle of which Redis goes away, for less and for more than events wait. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class RedisAwayIT {

  private static final Pattern PROGRESS = Pattern.compile("\"progress\":(\\d+)");
  private static final Pattern UNLOGGED = Pattern.compile("holdfast_events_unlogged_total (\\d+)");
  private static final Duration SHORT = Duration.ofSeconds(2);
  private static final Duration BACK = Duration.ofSeconds(20);

  private final Random random = new Random(20_251_125);
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  private static RedisFixture redis;
  private static NodeFixture server;

  /** Two whose events wait for longer than an outage, and two that go on without the log. */
  private static List<Gateway> patient;

  private static List<Gateway> impatient;

  /** How Redis goes away, and comes back with all it had. */
  enum Outage {
    KILLED {
      @Override
      void begin(RedisFixture redis) {
        redis.kill();
      }

      @Override
      void end(RedisFixture redis) {
        redis.restart();
      }
    },
    /** Then it executes late what its sockets hold. */
    FROZEN {
      @Override
      void begin(RedisFixture redis) {
        redis.freeze();
      }

      @Override
      void end(RedisFixture redis) {
        redis.thaw();
      }
    };

    abstract void begin(RedisFixture redis);

    abstract void end(RedisFixture redis);
  }

  @BeforeAll
  static void start() {
    redis = RedisFixture.startDurable();
    server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
    patient = Gateway.startPair(settings("patient:", "5s"));
    impatient = Gateway.startPair(settings("impatient:", "1s"));
  }

  @AfterAll
  static void stop() {
    impatient.forEach(Gateway::close);
    patient.forEach(Gateway::close);
    server.close();
    redis.close();
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    http.close();
  }

  /**
   * Of one pair.
   *
   * @param prefix of its keys, so that no pair takes over sessions of the other
   */
  private static Map<String, String> settings(String prefix, String hold) {
    return redis.gatewaySettings(
        "holdfast.redis.prefix",
        prefix,
        "holdfast.redis.timeout",
        "300ms",
        "holdfast.store-failure.hold",
        hold,
        "holdfast.upstream.url",
        server.url().toString());
  }

  @ParameterizedTest
  @EnumSource
  void shouldLoseNothingWhenItIsBackInTime(Outage outage) throws Exception {
    Gateway owner = patient.getFirst();
    Gateway other = patient.getLast();
    awaitReady(owner, other);
    int steps = 60;
    Transcript here = new Transcript();
    Transcript there = new Transcript();
    Future<?> atOwner = threads.submit(() -> follow(here, 1, steps, owner.url(), owner.url()));
    Future<?> atOther = threads.submit(() -> follow(there, 2, steps, owner.url(), other.url()));
    await().until(() -> here.progress().size() > 5 && there.progress().size() > 8);

    outage.begin(redis);
    long end = System.nanoTime() + SHORT.toNanos();
    while (System.nanoTime() < end) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
    outage.end(redis);
    atOwner.get();
    atOther.get();

    for (Transcript call : List.of(here, there)) {
      String details = call + "\n" + owner.output() + "\n" + other.output();
      assertThat(call.progress()).as(details).isEqualTo(upTo(steps));
      assertThat(call.results()).as(details).isEqualTo(1);
      // Nor is there one without an id: it would show that of the event before.
      assertThat(call.ids()).as(details).doesNotHaveDuplicates();
    }
  }

  /** Calls at one replica, goes away after a few events, and follows the rest at another. */
  private Transcript follow(Transcript transcript, int id, int steps, URI first, URI then)
      throws Exception {
    FollowingClient client = new FollowingClient(http, List.of(first), random);
    boolean moves = !first.equals(then);
    client.begin(
        count(id, steps), random, transcript, seen -> moves && seen.progress().size() >= 3);
    client.at(List.of(then)).resume(transcript, random);
    return transcript;
  }

  @ParameterizedTest
  @EnumSource
  void shouldGoOnWithoutIdsAndShowTheGapWhenItIsBackLate(Outage outage) throws Exception {
    Gateway owner = impatient.getFirst();
    Gateway other = impatient.getLast();
    awaitReady(owner, other);
    int steps = 120;
    McpClient client = McpClient.at(owner.url());
    FrameStream call = client.stream(count(1, steps));
    List<Frame.Event> seen = new ArrayList<>();
    take(call, seen, 10);

    outage.begin(redis);
    await().atMost(BACK).until(() -> readiness(owner) == 503 && readiness(other) == 503);
    do {
      take(call, seen, 1);
    } while (withLastId(seen) < 10);
    String before = seen.getLast().id();
    outage.end(redis);
    awaitReady(owner, other);
    do {
      take(call, seen, 1);
    } while (seen.getLast().id().equals(before));
    String after = seen.getLast().id();
    while (!seen.getLast().data().contains("\"result\"")) {
      take(call, seen, 1);
    }

    String details = seen + "\n" + owner.output();
    assertThat(progress(seen)).as(details).isEqualTo(upTo(steps));
    assertThat(call.rest()).as(details).containsExactly(new Frame.End(true));
    HttpResponse<String> gone = client.elsewhere(other.url()).resumeWhole(before);
    assertThat(gone.statusCode()).as(details).isEqualTo(200);
    assertThat(gone.body()).contains(": gap: events after ", "\"result\"");
    int from = seen.stream().map(Frame.Event::id).toList().indexOf(after);
    HttpResponse<String> rest = client.elsewhere(other.url()).resumeWhole(after);
    assertThat(rest.statusCode()).isEqualTo(200);
    assertThat(progress(rest.body())).isEqualTo(progress(seen.subList(from + 1, seen.size())));
    assertThat(rest.body()).contains("\"result\"");
  }

  @ParameterizedTest
  @EnumSource
  void shouldEndACallWhileItIsAwayAndCompleteItsStreamAfterwards(Outage outage) throws Exception {
    Gateway owner = impatient.getFirst();
    awaitReady(owner);
    int unlogged = unlogged(owner);
    int steps = 30;
    McpClient client = McpClient.at(owner.url());
    FrameStream call = client.stream(count(1, steps));
    List<Frame.Event> seen = new ArrayList<>();
    take(call, seen, 5);

    outage.begin(redis);
    seen.addAll(call.events());
    assertThat(progress(seen)).as(owner.output()).isEqualTo(upTo(steps));
    assertThat(seen.getLast().data()).contains("\"result\"");
    String last = seen.getLast().id();
    assertThat(client.resumeWhole(last).statusCode()).isEqualTo(503);
    outage.end(redis);

    String session = "impatient:{" + client.session() + "}";
    String name = last.substring(0, last.indexOf('_'));
    await()
        .atMost(BACK)
        .ignoreExceptions()
        .until(() -> redis.command("HEXISTS", session, "o:" + name).equals(":0"));
    // A Redis that was frozen may first write events late, which the owner then removes.
    long logged = Long.parseLong(last.substring(last.lastIndexOf('-') + 1));
    await()
        .atMost(BACK)
        .until(() -> redis.command("XLEN", session + ":e:" + name).equals(":" + (logged + 1)));
    awaitReady(owner);
    assertThat(client.resumeWhole(last).statusCode()).as(owner.output()).isEqualTo(410);
    assertThat(unlogged(owner) - unlogged).isGreaterThanOrEqualTo(10);
  }

  /** As after a failover, or a restart from an older snapshot. */
  @Test
  void shouldEndOnceMoreAStreamWhoseEndIsLost() {
    Gateway owner = patient.getFirst();
    awaitReady(owner);
    McpClient client = McpClient.at(owner.url());
    FrameStream call = client.stream(count(1, 10));
    List<Frame.Event> seen = new ArrayList<>();
    take(call, seen, 3);
    String last = seen.getLast().id();
    String session = "patient:{" + client.session() + "}";
    String stream = session + ":e:" + last.substring(0, last.indexOf('_'));
    String copy = "for i = 1, 3, 2 do redis.call('COPY', KEYS[i], KEYS[i + 1], 'REPLACE') end";
    redis.command("EVAL", copy, "4", session, "s", stream, "e");
    assertThat(call.events().getLast().data()).contains("\"result\"");

    redis.command("EVAL", copy, "4", "s", session, "e", stream);
    redis.command("CLIENT", "KILL", "TYPE", "pubsub");

    List<Frame.Event> rest = client.resume(last).events();
    String details = rest + owner.output();
    assertThat(progress(rest)).as(details).isEqualTo(upTo(10).subList(3, 10));
    assertThat(rest.getLast().data()).as(details).contains("\"result\"");
  }

  private static void take(FrameStream call, List<Frame.Event> seen, int count) {
    for (int i = 0; i < count; i++) {
      seen.add(call.event());
    }
  }

  /** How many came since the last new id, with it. */
  private static long withLastId(List<Frame.Event> seen) {
    return seen.stream().filter(event -> event.id().equals(seen.getLast().id())).count();
  }

  private static List<Integer> progress(List<Frame.Event> events) {
    StringBuilder all = new StringBuilder();
    events.forEach(event -> all.append(event.data()).append('\n'));
    return progress(all.toString());
  }

  private static List<Integer> progress(String text) {
    List<Integer> steps = new ArrayList<>();
    Matcher matcher = PROGRESS.matcher(text);
    while (matcher.find()) {
      steps.add(Integer.valueOf(matcher.group(1)));
    }
    return steps;
  }

  private static List<Integer> upTo(int steps) {
    return IntStream.rangeClosed(1, steps).boxed().toList();
  }

  private static void awaitReady(Gateway... gateways) {
    await().atMost(BACK).until(() -> Stream.of(gateways).allMatch(Gateway::isReady));
  }

  /** How many events clients of a gateway got that are not in the log. */
  private static int unlogged(Gateway gateway) {
    Matcher counter = UNLOGGED.matcher(gateway.get("/q/metrics").body());
    assertThat(counter.find()).isTrue();
    return Integer.parseInt(counter.group(1));
  }

  private static int readiness(Gateway gateway) {
    return gateway.get("/q/health/ready").statusCode();
  }

  private static String count(int id, int steps) {
    return ToolRequest.count(id, steps, 100);
  }
}
