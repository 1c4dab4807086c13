package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import dev.holdfast.testing.RedisFixture;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A replica that writes streams is killed or stopped while it waits for clients that do not read.
 * One server can resume its streams, the other cannot.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class HeldBackFaultsIT {

  /** More than a stream may keep, and more than a window and the sockets on the way take. */
  private static final int EVENTS = LongRun.REQUESTED ? 100_000 : 15_000;

  private static final int BYTES = 350;

  /** A client resumes after half of what its server sends at first. */
  private static final int HELD = 10;

  private static final int ALL = Integer.MAX_VALUE;

  private final RedisFixture redis = RedisFixture.start();
  private final FloodServer resumable = FloodServer.resumable();
  private final FloodServer plain = new FloodServer();
  private List<Gateway> gateways = List.of();

  @AfterEach
  void stop() {
    gateways.forEach(Gateway::close);
    resumable.close();
    plain.close();
    redis.close();
  }

  private void start(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(redis.gatewaySettings());
    settings.put("holdfast.upstreams.resumable.url", resumable.url().toString());
    settings.put("holdfast.upstreams.plain.url", plain.url().toString());
    settings.putAll(more);
    gateways = Gateway.startPair(settings);
  }

  private Gateway writer() {
    return gateways.getFirst();
  }

  private Gateway other() {
    return gateways.getLast();
  }

  private void terminateWriter() throws InterruptedException {
    writer().terminate();
    assertThat(writer().awaitEnd(40)).as(writer().output()).isTrue();
  }

  /** A call at the first replica whose client resumes, and then does not read. */
  private final class Call implements AutoCloseable {
    final String path;
    final String session;
    final FloodReader reader = FloodReader.of(BYTES);
    final NonReadingClient client;

    Call(FloodServer server, Gateway at) throws Exception {
      path = server == plain ? "/servers/plain/mcp" : "/servers/resumable/mcp";
      URI first = writer().url(path);
      session = McpClient.at(first).ready().session();
      reader.call(first, session, FloodServer.heldFlood(1, EVENTS, BYTES, HELD), HELD / 2);
      client = NonReadingClient.connect(at.url(path));
      client.resume(session, reader.lastId());
      server.release();
    }

    FloodReader read() throws Exception {
      return reader.read(client.body(), ALL);
    }

    /** Events written before are delivered, and then the error. */
    void assertEndsWithAnError() throws Exception {
      read();
      assertThat(reader.error()).contains("outcome of the request is unknown");
      assertThat(reader.seen()).isBetween(HELD, EVENTS - 1);
    }

    @Override
    public void close() {
      client.close();
    }
  }

  private void awaitHeldBack(int streams) {
    await()
        .untilAsserted(() ->
            assertThat(writer().get("/q/metrics").body())
                .containsPattern("(?m)^holdfast_streams_held_back " + streams + "\\.0$"));
  }

  @Test
  void shouldLoseNoEventWhenTheWriterIsKilled() throws Exception {
    start(Map.of());
    try (Call one = new Call(resumable, other());
        Call two = new Call(plain, other())) {
      awaitHeldBack(2);

      writer().kill();

      one.read().assertHasAll(EVENTS);
      two.assertEndsWithAnError();
      assertThat(resumable.resumed()).isPositive();
    }
  }

  @Test
  void shouldLoseNoEventWhenTheWriterHandsOver() throws Exception {
    start(Map.of("holdfast.stream.drain-timeout", "1s"));
    try (Call one = new Call(resumable, other());
        Call two = new Call(plain, other())) {
      awaitHeldBack(2);

      terminateWriter();

      one.read().assertHasAll(EVENTS);
      two.assertEndsWithAnError();
      assertThat(resumable.resumed()).isPositive();
    }
  }

  /**
   * The replica that stops can finish the calls, because the clients read in time. It sends its own
   * client away, and once wrote on before that client was at the other replica.
   */
  @Test
  void shouldLoseNoEventWhileTheWriterDrains() throws Exception {
    start(Map.of());
    try (Call moving = new Call(plain, writer());
        Call elsewhere = new Call(plain, other())) {
      awaitHeldBack(2);

      writer().terminate();

      moving.read();
      assertThat(moving.reader.isComplete()).as(moving.reader.toString()).isFalse();
      moving.reader.resume(other().url(moving.path), moving.session, ALL).assertHasAll(EVENTS);
      elsewhere.read().assertHasAll(EVENTS);
      assertThat(writer().awaitEnd(40)).as(writer().output()).isTrue();
    }
  }

  /** The replica that stops does not write: its client comes to the one that does. */
  @Test
  void shouldLoseNoEventWhileTheReplicaOfTheReaderDrains() throws Exception {
    start(Map.of());
    try (Call call = new Call(plain, other())) {
      awaitHeldBack(1);

      other().terminate();
      call.read();
      assertThat(call.reader.isComplete()).as(call.reader.toString()).isFalse();

      call.reader.resume(writer().url(call.path), call.session, ALL).assertHasAll(EVENTS);
      assertThat(other().awaitEnd(40)).as(other().output()).isTrue();
    }
  }
}
