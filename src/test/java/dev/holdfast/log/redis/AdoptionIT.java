package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting.CountingWatcher;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisProxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Streams whose owner is lost or only seems to be. */
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class AdoptionIT extends ReplicasFixture {

  @AutoClose private static RedisFixture redis;

  private RedisEventLog replica(String name) {
    return replica(redis, name);
  }

  private RedisEventLog replica(String name, RedisProxy proxy) {
    return replica(redis, name, proxy.url(), redis.url());
  }

  private static NewEvent fromUpstream(String payload, String id) {
    return new NewEvent(payload.getBytes(UTF_8), id, false);
  }

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
  }

  @Test
  void shouldContinueAfterTheFormerOwner() {
    RedisEventLog former = replica("a");
    RedisEventLog successor = replica("b");
    former.open(ref, "1,\"x\"").append(numbered(1, 3));

    SharedLog.AdoptedStream adopted = successor.shared().adopt(ref.key(), "a").getFirst();
    Position position = adopted.writer().append(List.of(last("4")));

    assertThat(adopted.stream()).isEqualTo(ref);
    assertThat(adopted.requests()).isEqualTo("1,\"x\"");
    assertThat(position.number()).isEqualTo(4);
    assertThat(payloads(readAll(successor, ref, Position.START)))
        .containsExactly("1", "2", "3", "4");
  }

  @Test
  void shouldFenceTheFormerOwner() {
    RedisEventLog former = replica("a");
    RedisEventLog successor = replica("b");
    StreamWriter fenced = former.open(ref, "1");
    fenced.append(numbered(1, 1));

    StreamWriter writer = successor.shared().adopt(ref.key(), "a").getFirst().writer();

    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> fenced.append(List.of(event("stale"))));
    writer.append(numbered(2, 2));
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> fenced.append(List.of(event("stale"))));
    assertThat(payloads(readAll(former, ref, Position.START))).containsExactly("1", "2");
    assertThat(former.shared().findTakenOver(Set.of(ref))).containsExactly(ref);
    assertThat(successor.shared().findTakenOver(Set.of(ref))).isEmpty();
  }

  @Test
  void shouldGiveEachStreamToOneOfManySuccessors() throws Exception {
    RedisEventLog former = replica("a");
    List<StreamRef> streams =
        IntStream.range(0, 20).mapToObj(i -> new StreamRef(ref.key(), "s" + i)).toList();
    streams.forEach(stream -> former.open(stream, "1"));
    List<RedisEventLog> successors =
        IntStream.range(0, 8).mapToObj(i -> replica("successor" + i)).toList();

    List<StreamRef> adopted = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<List<SharedLog.AdoptedStream>>> tries = new ArrayList<>();
      successors.forEach(successor -> tries.add(() -> successor.shared().adopt(ref.key(), "a")));
      for (Future<List<SharedLog.AdoptedStream>> won : threads.invokeAll(tries)) {
        won.get().forEach(stream -> adopted.add(stream.stream()));
      }
    }

    assertThat(adopted).containsExactlyInAnyOrderElementsOf(streams);
  }

  @Test
  void shouldNotAdoptStreamsOfOtherReplicas() {
    RedisEventLog former = replica("a");
    RedisEventLog other = replica("ab");
    RedisEventLog successor = replica("c");
    StreamRef complete = new StreamRef(ref.key(), "done");
    StreamRef others = new StreamRef(ref.key(), "others");
    former.open(complete, "1").append(List.of(last("end")));
    StreamWriter writer = other.open(others, "2");

    assertThat(successor.shared().adopt(ref.key(), "a")).isEmpty();
    assertThat(writer.append(numbered(1, 1)).number()).isEqualTo(1);
  }

  @Test
  void shouldAdoptNothingOfAnEndedSession() {
    RedisEventLog former = replica("a");
    RedisEventLog successor = replica("b");
    former.open(ref, "1");
    former.end(ref.key());

    assertThat(successor.shared().adopt(ref.key(), "a")).isEmpty();
  }

  @Test
  void shouldTellTheNewestUpstreamId() {
    RedisEventLog former = replica("a");
    RedisEventLog successor = replica("b");
    StreamRef without = new StreamRef(ref.key(), "without");
    former
        .open(ref, "1")
        .append(
            List.of(fromUpstream("1", "u1"), fromUpstream("2", "u2"), event("own"), event("own")));
    former.open(without, "2").append(numbered(1, 200));

    List<SharedLog.AdoptedStream> adopted = successor.shared().adopt(ref.key(), "a");

    assertThat(adopted)
        .extracting(stream -> stream.stream().name() + " " + stream.upstreamId())
        .containsExactlyInAnyOrder("a1 u2", "without null");
  }

  /** A server may send an id without a message, long before its first message. */
  @Test
  void shouldTellAnUpstreamIdThatCameWithoutAMessage() {
    RedisEventLog former = replica("a");
    RedisEventLog successor = replica("b");
    StreamWriter writer = former.open(ref, "1");
    StreamRef later = new StreamRef(ref.key(), "later");
    StreamWriter laterWriter = former.open(later, "2");
    StreamRef again = new StreamRef(ref.key(), "again");
    StreamWriter againWriter = former.open(again, "3");

    writer.recordUpstreamCursor("u 0");
    laterWriter.recordUpstreamCursor("u0");
    laterWriter.append(List.of(fromUpstream("1", "u1")));
    againWriter.append(List.of(fromUpstream("1", "u1")));
    againWriter.recordUpstreamCursor("u2");
    former.check(); // Commands of one thread are executed in order.

    assertThat(successor.shared().adopt(ref.key(), "a"))
        .extracting(stream -> stream.stream().name() + " " + stream.upstreamId())
        .containsExactlyInAnyOrder("a1 u 0", "later u1", "again u2");
    writer.recordUpstreamCursor("stale");
  }

  @Test
  void shouldFindAnAppendWhoseReplyTheFormerOwnerDidNotGet() {
    RedisProxy proxy = proxy(redis);
    RedisEventLog former = replica("a", proxy);
    RedisEventLog successor = replica("b");
    StreamWriter writer = former.open(ref, "1");
    writer.append(numbered(1, 1));
    proxy.cutAtNextReplies(1);
    assertThatExceptionOfType(LogException.OutcomeUnknown.class)
        .isThrownBy(() -> writer.append(numbered(2, 2)));

    StreamWriter adopted = successor.shared().adopt(ref.key(), "a").getFirst().writer();

    assertThat(adopted.append(numbered(3, 3)).number()).isEqualTo(3);
    assertThat(payloads(readAll(successor, ref, Position.START))).containsExactly("1", "2", "3");
  }

  /** A claim whose reply is lost would otherwise leave the streams without a writer. */
  @Test
  void shouldRepeatAClaimWhoseReplyIsLost() {
    RedisProxy proxy = proxy(redis);
    RedisEventLog former = replica("a");
    RedisEventLog successor = replica("b", proxy);
    former.open(ref, "1").append(numbered(1, 1));
    successor.check();
    assertThat(successor.shared().adopt(new LogKey("unknown"), "a"))
        .isEmpty(); // Redis knows the script now.

    proxy.cutAtNextReplies(1);
    assertThat(catchThrowable(() -> successor.shared().adopt(ref.key(), "a")))
        .isInstanceOf(LogException.StoreUnavailable.class);
    List<SharedLog.AdoptedStream> adopted = successor.shared().adopt(ref.key(), "a");

    assertThat(adopted).hasSize(1);
    assertThat(adopted.getFirst().writer().append(numbered(2, 2)).number()).isEqualTo(2);
  }

  /** The tail of a replica that was only frozen is still recorded, so the new owner wakes it. */
  @Test
  void shouldWakeATailOfTheFormerOwner() {
    RedisEventLog former = replica("a");
    RedisEventLog successor = replica("b");
    Position first = former.open(ref, "1").append(numbered(1, 1));
    CountingWatcher watcher = new CountingWatcher();
    former.watch(ref, Position.START, watcher);
    assertThat(events(former.read(ref, first, 10))).isEmpty();
    int wakes = watcher.wakes();

    successor.shared().adopt(ref.key(), "a").getFirst().writer().append(numbered(2, 2));

    await().untilAsserted(() -> assertThat(watcher.wakes()).isGreaterThan(wakes));
    assertThat(payloads(former.read(ref, first, 10))).containsExactly("2");
  }

  @Test
  void shouldServeALocalTailOfAnAdoptedStream() {
    RedisEventLog former = replica("a");
    RedisEventLog successor = replica("b");
    Position first = former.open(ref, "1").append(numbered(1, 1));
    CountingWatcher watcher = new CountingWatcher();
    successor.watch(ref, Position.START, watcher);

    StreamWriter writer = successor.shared().adopt(ref.key(), "a").getFirst().writer();
    Position third = writer.append(numbered(2, 3));

    assertThat(watcher.wakes()).isPositive();
    assertThat(payloads(successor.read(ref, first, 10))).containsExactly("2", "3");
    assertThat(events(successor.read(ref, third, 10))).isEmpty();
    assertThat(payloads(readAll(successor, ref, Position.START))).containsExactly("1", "2", "3");
  }

  /** The stream returns to this replica when its successor is lost too. */
  @Test
  void shouldAdoptAStreamBack() {
    RedisEventLog first = replica("a");
    RedisEventLog second = replica("b");
    StreamWriter stale = first.open(ref, "1");
    stale.append(numbered(1, 1));
    second.shared().adopt(ref.key(), "a").getFirst().writer().append(numbered(2, 2));

    StreamWriter again = first.shared().adopt(ref.key(), "b").getFirst().writer();
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> stale.append(numbered(9, 9)));

    assertThat(again.append(numbered(3, 3)).number()).isEqualTo(3);
    assertThat(payloads(readAll(first, ref, Position.START))).containsExactly("1", "2", "3");
  }

  @Test
  void shouldFindAStreamWhoseOpeningSeemedToFail() {
    RedisProxy proxy = proxy(redis);
    RedisEventLog log = replica("a", proxy);
    log.open(new StreamRef(ref.key(), "first"), "1").append(List.of(last("end")));

    proxy.cutAtNextReplies(2);
    assertThat(catchThrowable(() -> log.open(ref, "2")))
        .isInstanceOf(LogException.StoreUnavailable.class);
    await().until(() -> proxy.cutsLeft() == 0);

    assertThat(findOrphaned(log)).containsOnlyKeys(ref);
    StreamWriter writer = log.shared().reclaim(ref.key(), Set.of("a1")).getFirst().writer();
    assertThat(findOrphaned(log)).isEmpty();
    writer.append(List.of(last("end")));
    assertThat(payloads(readAll(log, ref, Position.START))).containsExactly("end");
    assertThat(log.shared().reclaim(ref.key(), Set.of("a1"))).isEmpty();
  }

  /** A primary that fails loses the newest writes. */
  @Test
  void shouldFindAStreamWhoseEndIsLost() {
    RedisEventLog log = replica("a");
    StreamWriter writer = log.open(ref, "1");
    Position second = writer.append(numbered(1, 2));
    String session = Replica.KEYS.session(ref.key().value());
    String stream = Replica.KEYS.stream(ref.key().value(), ref.name());
    redis.command("COPY", session, session + "before");
    redis.command("COPY", stream, stream + "before");
    writer.append(List.of(last("end")));
    assertThat(findOrphaned(log)).isEmpty();

    redis.command("COPY", session + "before", session, "REPLACE");
    redis.command("COPY", stream + "before", stream, "REPLACE");

    assertThat(findOrphaned(log)).containsOnlyKeys(ref);
    SharedLog.AdoptedStream again = log.shared().reclaim(ref.key(), Set.of("a1")).getFirst();
    assertThat(again.requests()).isEqualTo("1");
    again.writer().append(List.of(last("unknown")));
    assertThat(payloads(readAll(log, ref, second))).containsExactly("unknown");
  }

  @Test
  void shouldNotFindStreamsThatHaveAWriter() {
    RedisEventLog log = replica("a");
    RedisEventLog other = replica("ab");
    log.open(ref, "1").append(numbered(1, 1));
    other.open(new StreamRef(ref.key(), "others"), "2");
    log.openShared(new StreamRef(ref.key(), "m"));
    StreamRef complete = new StreamRef(ref.key(), "done");
    log.open(complete, "3").append(List.of(last("end")));

    assertThat(findOrphaned(log)).isEmpty();
    assertThat(findOrphaned(other)).isEmpty();
  }

  /** The stream gets its writer when the message is received. */
  @Test
  void shouldNotFindARemoteStreamWhoseMessageWaits() {
    RedisEventLog owner = replica("a");
    RedisEventLog other = replica("b");
    owner.open(new StreamRef(ref.key(), "g"), "");
    assertThat(
            other.shared().inbox().putRequest(ref, "1", "", null, "g", "question".getBytes(UTF_8)))
        .isTrue();

    assertThat(findOrphaned(owner)).isEmpty();
    redis.command("DEL", Replica.KEYS.inbox(ref.key().value()));
    assertThat(findOrphaned(owner)).containsOnlyKeys(ref);
  }

  @Test
  void shouldGiveAReleasedStreamToNobody() {
    RedisEventLog former = replica("a");
    RedisEventLog successor = replica("b");
    StreamWriter writer = former.openUnfollowed(ref, null);
    Position first = writer.append(numbered(1, 1));
    CountingWatcher watcher = new CountingWatcher();
    former.watch(ref, first, watcher);

    writer.release();
    await()
        .untilAsserted(
            () -> assertThat(former.shared().findTakenOver(Set.of(ref))).containsExactly(ref));

    assertThat(findOrphaned(former)).isEmpty();
    assertThat(successor.shared().adopt(ref.key(), "a")).isEmpty();
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> writer.append(numbered(2, 2)));
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> successor.openUnfollowed(ref, null));
    assertThat(payloads(readAll(former, ref, Position.START))).containsExactly("1");
    successor.watch(ref, first, new CountingWatcher());
    await().untilAsserted(() -> assertThat(watcher.evictions()).isEqualTo(1));
    successor.end(ref.key());
    assertThat(successor.read(ref, first, 10, 1000)).isInstanceOf(ReadResult.NoSuchStream.class);
  }

  @Test
  void shouldNotReleaseAStreamOfAnotherOwner() {
    RedisEventLog former = replica("a");
    RedisEventLog successor = replica("b");
    StreamWriter late = former.open(ref, "1");
    StreamWriter writer = successor.shared().adopt(ref.key(), "a").getFirst().writer();

    late.release();
    assertThat(former.shared().findTakenOver(Set.of(ref))).containsExactly(ref);

    writer.append(List.of(last("end")));
    assertThat(payloads(readAll(former, ref, Position.START))).containsExactly("end");
  }

  private Map<StreamRef, String> findOrphaned(RedisEventLog log) {
    return log.shared().findOrphaned(List.of(ref.key(), new LogKey("unknown")));
  }
}
