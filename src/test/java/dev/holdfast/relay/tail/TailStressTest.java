package dev.holdfast.relay.tail;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.stream.EventId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Writers at full speed, and clients that disconnect at any event and resume. Guards against a hole
 * or a duplicate where replay turns into live following, and against a lost wake-up, which leaves a
 * client waiting.
 */
@Timeout(120)
class TailStressTest {

  private static final int STREAMS = 24;
  private static final int EVENTS = 3000;
  private static final Pattern EVENT = Pattern.compile("(?m)^id: (\\S+)\\ndata: (.+)\\n");

  private final LogFixture fixture = new LogFixture();

  /** One connection of a client that disconnects after some events. */
  private static final class CutConnection implements ClientConnection {
    private final List<String> into;
    private final int limit;
    private final boolean noticed;
    private final CountDownLatch over = new CountDownLatch(1);
    private int taken;
    private String lastId;

    /**
     * @param into the events that the client has
     * @param noticed whether the server notices the cut, or continues to write
     */
    CutConnection(List<String> into, String lastId, int limit, boolean noticed) {
      this.into = into;
      this.lastId = lastId;
      this.limit = limit;
      this.noticed = noticed;
    }

    @Override
    public void write(byte[] bytes) throws ClientGoneException {
      Matcher events = EVENT.matcher(new String(bytes, UTF_8));
      while (taken < limit && events.find()) {
        lastId = events.group(1);
        into.add(events.group(2));
        taken++;
      }
      if (taken == limit) {
        over.countDown();
        if (noticed) {
          throw new ClientGoneException(null);
        }
      }
    }

    @Override
    public boolean awaitTaken(Duration most) {
      return true;
    }

    @Override
    public void abort() {
      over.countDown();
    }

    @Override
    public void onGone(Runnable listener) {
      // The server notices that the client is gone when it writes.
    }

    @Override
    public void end() {
      over.countDown();
    }
  }

  private static void write(StreamWriter writer, Random random) {
    int next = 1;
    while (next <= EVENTS) {
      int to = Math.min(EVENTS, next + random.nextInt(20));
      List<NewEvent> events =
          to == EVENTS ? LogFixture.complete(next, to) : LogTesting.numbered(next, to);
      Position _ = writer.append(events);
      next = to + 1;
    }
  }

  /** Reads a stream over any number of connections. */
  private List<String> read(String stream, Random random) throws InterruptedException {
    List<String> all = new ArrayList<>();
    String lastId = stream + "_0-0";
    while (all.size() < EVENTS) {
      int limit = 1 + random.nextInt(random.nextInt(4) == 0 ? 5 : 700);
      CutConnection connection = new CutConnection(all, lastId, limit, random.nextBoolean());
      Position after = EventId.parse(lastId).orElseThrow().position();
      Tail tail = fixture.tail(stream, after, TailKind.RESUMED);
      Thread.ofVirtual().start(() -> tail.run(connection));
      connection.over.await();
      lastId = connection.lastId;
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void shouldDeliverEachEventOnceAndInOrder(long seed) throws Exception {
    List<Future<List<String>>> clients = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < STREAMS; i++) {
        String stream = "s" + i;
        Random random = new Random(seed * STREAMS + i);
        StreamWriter writer = fixture.open(stream);
        Random writing = new Random(random.nextLong());
        var _ = CompletableFuture.runAsync(() -> write(writer, writing), threads);
        clients.add(threads.submit(() -> read(stream, random)));
      }
      List<String> expected = LogFixture.numbers(1, EVENTS);
      for (Future<List<String>> client : clients) {
        assertThat(client.get(60, TimeUnit.SECONDS)).isEqualTo(expected);
      }
    }
  }
}
