package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.FencedException;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogTesting.CountingWatcher;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.Watch;
import dev.holdfast.log.ownership.AdoptedStream;
import dev.holdfast.log.ownership.Inbox;
import dev.holdfast.testing.RedisFixture;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Streams that are kept in another, on two replicas. */
class SharedStreamIT {

  private static final Duration HOUR = Duration.ofHours(1);
  private static final Retention RETENTION = new Retention(HOUR, HOUR, 100_000, HOUR, 100);
  private static final String OWNER = "a f00d";

  @SuppressWarnings("NullAway.Init")
  private static RedisFixture redis;

  @SuppressWarnings("NullAway.Init")
  private static Replica a;

  @SuppressWarnings("NullAway.Init")
  private static Replica b;

  private final String session = "s" + UUID.randomUUID();
  private final StreamRef shared = new StreamRef(session, "m");
  private final StreamRef ref = new StreamRef(session, "a1");

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    a = new Replica("a", redis.url(), RETENTION);
    b = new Replica("b", redis.url(), RETENTION);
  }

  @AfterAll
  static void stop() {
    b.close();
    a.close();
    redis.close();
  }

  @BeforeEach
  void open() {
    a.log.begin(session);
    a.log.openShared(shared);
  }

  private static NewEvent fromUpstream(String payload, String id) {
    return new NewEvent(payload.getBytes(UTF_8), id, false);
  }

  private List<String> read() {
    return payloads(readAll(b.log, shared, Position.START));
  }

  private LogScripts scripts() {
    return new LogScripts(a.link, Replica.KEYS, "a", RETENTION);
  }

  private Position merge(long had, NewEvent... events) {
    return scripts().merge(ref, shared, OWNER, new Position(0, had), List.of(events));
  }

  @Test
  void shouldWakeTheTailOnAnotherReplica() {
    StreamWriter writer = a.log.open(ref, "1", "m");
    CountingWatcher watcher = new CountingWatcher();

    try (Watch _ = b.log.watch(shared, watcher)) {
      assertThat(b.log.read(shared, Position.START, 10))
          .isEqualTo(new ReadResult.Events(List.of()));
      int before = watcher.wakes();
      writer.append(List.of(event("1")));
      await().until(() -> watcher.wakes() > before);
    }

    assertThat(read()).containsExactly("1");
  }

  @Test
  void shouldEvictTheTailOfAnotherReplica() {
    CountingWatcher older = new CountingWatcher();
    try (Watch _ = a.log.watch(shared, older);
        Watch _ = b.log.watch(shared, new CountingWatcher())) {
      await().until(() -> older.evictions() == 1);
    }
  }

  @Test
  void shouldGoOnAfterALossWithTheUpstreamsIdOfTheStreamItself() {
    StreamWriter zombie = a.log.open(ref, "1", "m");
    StreamWriter other = b.log.open(new StreamRef(session, "b1"), "2", "m");
    zombie.append(List.of(fromUpstream("1", "up-1"), event("2")));
    other.append(List.of(fromUpstream("3", "other-1")));

    List<AdoptedStream> adopted = b.log.adopt(session, "a");
    StreamWriter heir = adopted.getFirst().writer();
    heir.append(List.of(last("4")));

    assertThat(adopted).hasSize(1);
    assertThat(adopted.getFirst().stream()).isEqualTo(ref);
    assertThat(adopted.getFirst().upstreamId()).isEqualTo("up-1");
    assertThat(heir.keptIn()).isEqualTo(shared);
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> zombie.append(List.of(event("stale"))));
    other.append(List.of(last("5")));
    assertThat(read()).containsExactly("1", "2", "3", "4", "5");
  }

  @Test
  void shouldGoOnFromWhereTheUpstreamMovedAfterItsLastMessage() {
    StreamWriter writer = a.log.open(ref, "1", "m");
    writer.append(List.of(fromUpstream("1", "up-1")));
    writer.recordUpstreamCursor("up-2");

    // What is noted is not waited for.
    Request note = Request.cmd(Command.HGET).arg(Replica.KEYS.session(session)).arg("u:a1");
    await().until(() -> String.valueOf(b.link.send(note)).endsWith(" up-2"));
    String noted = b.log.adopt(session, "a").getFirst().upstreamId();

    assertThat(noted).isEqualTo("up-2");
  }

  @Test
  void shouldAdoptNothingThatNobodyOwns() {
    assertThat(b.log.adopt(session, "a")).isEmpty();
  }

  @Test
  void shouldFindTheRetryOfABatch() {
    scripts().open(ref, OWNER, "1", "m");

    merge(0, event("1"), event("2"));
    Position again = merge(0, event("1"), event("2"));

    assertThat(again).isEqualTo(new Position(0, 2));
    assertThat(read()).containsExactly("1", "2");
  }

  @Test
  void shouldFindTheRetryOfTheBatchThatCompletedAStream() {
    scripts().open(ref, OWNER, "1", "m");
    merge(0, event("1"));

    merge(1, event("2"), last("3"));
    Position again = merge(1, event("2"), last("3"));

    assertThat(again).isEqualTo(new Position(0, 3));
    assertThat(read()).containsExactly("1", "2", "3");
  }

  @Test
  void shouldRefuseABatchThatWasOvertaken() {
    scripts().open(ref, OWNER, "1", "m");
    merge(0, event("1"));
    merge(1, event("2"), event("3"));

    assertThatExceptionOfType(FencedException.class).isThrownBy(() -> merge(1, event("2")));
    merge(3, last("4"));
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> merge(1, event("2"), event("3")));

    assertThat(read()).containsExactly("1", "2", "3", "4");
  }

  @Test
  void shouldShowAsAGapWhatRedisHasLost() {
    scripts().open(ref, OWNER, "1", "m");
    merge(0, event("1"));
    Position before = readAll(a.log, shared, Position.START).getFirst().position();

    // As if two further events had been written, and lost in a failover.
    merge(3, event("4"));

    assertThat(b.log.read(shared, before, 10)).isInstanceOf(ReadResult.Gap.class);
    ReadResult.Gap gap = (ReadResult.Gap) b.log.read(shared, before, 10);
    assertThat(gap.firstAvailable()).isNotNull();
    List<LogEvent> rest = readAll(b.log, shared, gap.resumeAfter().orElseThrow());
    assertThat(payloads(rest)).containsExactly("4");
    assertThat(rest.getFirst().position().number()).isEqualTo(4);
  }

  @Test
  void shouldAnswerAtHomeIntoTheSharedStream() {
    Queue<Inbox.Message> letters = new ConcurrentLinkedQueue<>();
    a.log
        .inbox()
        .setReceiver(
            new Inbox.Receiver() {
              @Override
              public void receive(Inbox.Message letter) {
                letters.add(letter);
              }

              @Override
              public void sessionEnded(String ended) {}
            });
    StreamWriter home = a.log.open(new StreamRef(session, "g"), "", "m");

    assertThat(b.log.inbox().putRequest(ref, "1", "m", "g", "question".getBytes(UTF_8))).isTrue();
    await().until(() -> !letters.isEmpty());
    StreamWriter writer = Objects.requireNonNull(letters.remove().writer());
    home.append(List.of(event("unasked")));
    writer.append(List.of(last("answer")));

    assertThat(writer.keptIn()).isEqualTo(shared);
    assertThat(read()).containsExactly("unasked", "answer");
  }

  /** Its reply was lost, and it is made again when the call is done: the tool would run twice. */
  @Test
  void shouldFindTheRetryOfARequestThatWasAnswered() {
    // A replica that only the scripts know: one that runs would collect its letters by itself.
    LogScripts owner = new LogScripts(a.link, Replica.KEYS, "h", RETENTION);
    InboxScripts home = new InboxScripts(a.link, Replica.KEYS, "h", RETENTION);
    owner.open(new StreamRef(session, "g"), "h beef", "", "m");
    InboxScripts asking = new InboxScripts(b.link, Replica.KEYS, "b", RETENTION);
    byte[] question = "question".getBytes(UTF_8);
    asking.ask(ref, "f00d", "1", "m", "g", question);
    InboxScripts.Entry letter = home.collect(session, List.of()).getFirst();
    owner.merge(ref, shared, "h f00d", new Position(0, 0), List.of(last("answer")));
    assertThat(home.collect(session, List.of(new InboxScripts.Had(letter)))).isEmpty();

    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> asking.ask(ref, "f00d", "1", "m", "g", question));

    assertThat(asking.isOpen(ref)).isFalse();
    assertThat(asking.waiting(List.of(session))).isEmpty();
    assertThat(read()).containsExactly("answer");
  }

  /** One that comes late, when its stream is complete, would open it for nobody. */
  @Test
  void shouldOpenNoStreamAgainThatIsComplete() {
    scripts().open(ref, OWNER, "1", "m");
    merge(0, last("answer"));

    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> scripts().open(ref, OWNER, "1", "m"));

    assertThat(read()).containsExactly("answer");
  }

  @Test
  void shouldPutNothingForNobody() {
    a.log.open(ref, "1", "m").append(numbered(1, 1));

    assertThat(a.log.inbox().putForOthers(session, new byte[] {1})).isZero();
    assertThat(b.log.inbox().putForOthers(session, new byte[] {1})).isEqualTo(1);
  }

  @Test
  void shouldLeaveNothingBehind() {
    a.log.open(ref, "1", "m").append(List.of(event("1"), last("2")));
    a.log.open(new StreamRef(session, "a2"), "1", "m").append(List.of(event("3")));

    b.log.end(session);

    Request keys = Request.cmd(Command.KEYS).arg("*" + session + "*");
    assertThat(a.link.send(keys)).isEmpty();
  }
}
