package dev.holdfast.resume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * The promise of the project: a call that loses its connection at any moment, and is resumed at any
 * replica, brings every event once, in order, and its result once.
 */
class TwoReplicasIT {

  private static final long SEED = Long.getLong("holdfast.seed", 20_251_125L);
  private static final int CALLS = Integer.getInteger("holdfast.calls", 400);
  private static final int CLIENTS = 20;
  private static final int STEPS = 12;
  private static final List<Integer> ALL = IntStream.rangeClosed(1, STEPS).boxed().toList();

  @Test
  void shouldBringEveryEventOnceHoweverOftenItsConnectionIsCut() throws Exception {
    try (RedisFixture redis = RedisFixture.start();
        NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        Gateway first = replica(redis, server);
        Gateway second = replica(redis, server);
        FaultProxy toFirst = FaultProxy.inFrontOf(first.url());
        FaultProxy toSecond = FaultProxy.inFrontOf(second.url())) {
      toFirst.plan(new RandomCuts(SEED, STEPS + 2));
      toSecond.plan(new RandomCuts(SEED, STEPS + 2));

      List<Transcript> transcripts = run(List.of(toFirst.url(), toSecond.url()));

      assertThat(transcripts).hasSize(CALLS).allSatisfy(TwoReplicasIT::isWhole);
      assertThat(transcripts.stream().mapToInt(Transcript::cuts).sum()).isGreaterThan(CALLS);
    }
  }

  private static Gateway replica(RedisFixture redis, NodeFixture server) {
    return Gateway.start(
        redis.gatewaySettings(
            "holdfast.stream.retry", "10ms", "holdfast.upstream.url", server.url().toString()));
  }

  private static void isWhole(Transcript transcript) {
    assertThat(transcript.progress()).as("seed %s\n%s", SEED, transcript).isEqualTo(ALL);
    assertThat(transcript.results()).as("seed %s\n%s", SEED, transcript).isEqualTo(1);
    assertThat(transcript.ids()).as("seed %s\n%s", SEED, transcript).doesNotHaveDuplicates();
  }

  private static List<Transcript> run(List<URI> replicas) throws Exception {
    List<Transcript> transcripts = new ArrayList<>();
    try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<List<Transcript>>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        Random random = new Random(SEED + i);
        int client = i;
        clients.add(threads.submit(() -> calls(http, replicas, client, random)));
      }
      for (Future<List<Transcript>> client : clients) {
        transcripts.addAll(client.get());
      }
    }
    return transcripts;
  }

  private static List<Transcript> calls(
      HttpClient http, List<URI> replicas, int number, Random random) throws Exception {
    FollowingClient client = new FollowingClient(http, replicas, random);
    List<Transcript> whole = new ArrayList<>();
    for (int id = 1; whole.size() < CALLS / CLIENTS; id++) {
      Transcript transcript = client.call(call(number, id), random);
      // Cut before it had any event id, a client knows of nothing to resume: it calls once more.
      if (transcript.isComplete() || transcript.canResume()) {
        whole.add(transcript);
      } else {
        assertThat(transcript.lastEventId()).as(transcript.toString()).isEmpty();
      }
    }
    return whole;
  }

  private static String call(int client, int id) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"count",\
    "arguments":{"n":%d,"intervalMs":1},"_meta":{"progressToken":"%d/%d"}}}\
    """
        .formatted(id, STEPS, client, id);
  }
}
