package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.LogTesting.CountingWatcher;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Redis is away for longer than events wait, and comes back. */
@Timeout(120)
class OutageIT {

  private static final Duration HOUR = Duration.ofHours(1);
  private static final Retention RETENTION = LogTesting.retention(HOUR, HOUR, 100_000, HOUR, 100);
  private static final Duration TIMEOUT = Duration.ofMillis(300);

  private final RedisFixture redis = RedisFixture.startDurable();
  private final List<Replica> replicas = new ArrayList<>();
  private final StreamRef ref = new StreamRef(new LogKey("s" + UUID.randomUUID()), "a1");
  private final EventLog log = replica("a");
  private final EventLog other = replica("b");
  private final StreamWriter writer = log.open(ref, "1");

  @AfterEach
  void close() {
    replicas.forEach(Replica::close);
    redis.close();
  }

  private EventLog replica(String name) {
    Replica replica = new Replica(name, redis.url(), redis.url(), redis.url(), TIMEOUT, RETENTION);
    replicas.add(replica);
    replica.log.begin(ref.key(), "");
    return replica.log;
  }

  /** Writes the first event, and follows the stream up to it. */
  private Position follow() {
    log.watch(ref, Position.START, new CountingWatcher());
    Position first = writer.append(numbered(1, 1));
    assertThat(payloads(log.read(ref, Position.START, 10))).containsExactly("1");
    assertThat(events(log.read(ref, first, 10))).isEmpty();
    return first;
  }

  /** No thread waits for this append. It fails when Redis is silent for too long. */
  @Test
  void shouldDeliverAnAppendThatNobodyWaitedFor() throws Exception {
    Position first = follow();
    List<NewEvent> events = numbered(2, 2);
    CompletableFuture<Boolean> written = new CompletableFuture<>();
    redis.freeze();

    assertThat(writer.appendLater(events, written::complete)).isTrue();
    assertThat(written.get()).isFalse();
    assertThat(writer.deliverUnlogged(events)).isTrue();
    assertThat(payloads(log.read(ref, first, 10))).containsExactly("2");
    redis.thaw();
    recordSkipped();

    assertThat(payloads(other.read(ref, Position.START, 10))).containsExactly("1");
    assertThat(writer.append(numbered(3, 3)).number()).isEqualTo(3);
  }

  private void recordSkipped() {
    await()
        .ignoreExceptionsInstanceOf(LogException.StoreUnavailable.class)
        .ignoreExceptionsInstanceOf(LogException.OutcomeUnknown.class)
        .until(() -> {
          writer.recordSkipped();
          return true;
        });
  }

  private long stored() {
    String length = redis.command("XLEN", Replica.KEYS.stream(ref.key().value(), ref.name()));
    return Long.parseLong(length.substring(1));
  }

  private boolean hasOwner() {
    return redis
        .command("HEXISTS", Replica.KEYS.session(ref.key().value()), "o:" + ref.name())
        .equals(":1");
  }

  private static Throwable failing(Runnable appending) {
    Throwable failure = catchThrowable(appending::run);
    assertThat(failure)
        .isInstanceOfAny(LogException.StoreUnavailable.class, LogException.OutcomeUnknown.class);
    return failure;
  }

  @Test
  void shouldCloseAfterManyTailsHaveLeft() {
    List<EventLog.Watch> watches = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      LogKey session = new LogKey("session" + i);
      log.begin(session, "");
      StreamRef each = new StreamRef(session, "s");
      log.openUnfollowed(each, null);
      watches.add(log.watch(each, Position.START, new CountingWatcher()));
    }
    redis.kill();
    watches.forEach(watch -> {
      watch.leave(true);
      watch.close();
    });

    // It tries once to record each of them.
    assertTimeoutPreemptively(Duration.ofMinutes(1), log::close);
  }

  @Test
  void shouldDeliverEventsToTheLocalTailAndShowOthersTheGap() {
    Position first = follow();
    redis.kill();
    List<NewEvent> held = numbered(2, 2);
    failing(() -> writer.append(held));

    assertThat(writer.deliverUnlogged(held)).isTrue();
    assertThat(writer.deliverUnlogged(numbered(3, 4))).isTrue();

    List<LogEvent> unlogged = events(log.read(ref, first, 10));
    assertThat(payloads(unlogged)).containsExactly("2", "3", "4");
    assertThat(unlogged).extracting(LogEvent::logged).containsOnly(false);
    Position head = unlogged.getLast().position();
    assertThat(head.number()).isEqualTo(4);
    assertThat(events(log.read(ref, head, 10))).isEmpty();
    assertThat(events(log.read(ref, head, 10))).isEmpty();

    redis.restart();
    recordSkipped();
    await()
        .untilAsserted(
            () -> assertThat(other.read(ref, first, 10)).isEqualTo(new ReadResult.Gap(null, head)));
    Position fifth = writer.append(numbered(5, 5));

    assertThat(fifth.number()).isEqualTo(5);
    assertThat(other.read(ref, first, 10)).isEqualTo(new ReadResult.Gap(fifth));
    List<LogEvent> next = events(log.read(ref, head, 10));
    assertThat(payloads(next)).containsExactly("5");
    assertThat(next.getFirst().logged()).isTrue();
    assertThat(events(other.read(ref, fifth, 10))).isEmpty();
  }

  /** Redis wakes and executes a command without a reply, whose events a client has got already. */
  @Test
  void shouldRemoveEventsThatAFrozenRedisWritesLate() {
    Position first = follow();
    redis.freeze();
    List<NewEvent> held = numbered(2, 3);
    assertThat(failing(() -> writer.append(held))).isInstanceOf(LogException.OutcomeUnknown.class);
    assertThat(writer.deliverUnlogged(held)).isTrue();

    redis.thaw();
    recordSkipped();

    assertThat(stored()).isEqualTo(1);
    assertThat(other.read(ref, first, 10)).isInstanceOf(ReadResult.Gap.class);
    assertThat(payloads(log.read(ref, first, 10))).containsExactly("2", "3");
    assertThat(writer.append(numbered(4, 4)).number()).isEqualTo(4);
    assertThat(payloads(other.read(ref, new Position(first.millis(), 3), 10))).containsExactly("4");
  }

  @Test
  void shouldCompleteAStreamWhoseLastEventWasUnlogged() {
    Position first = follow();
    redis.freeze();
    List<NewEvent> end = List.of(event("2"), last("3"));
    failing(() -> writer.append(end));
    assertThat(writer.deliverUnlogged(end)).isTrue();
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> writer.deliverUnlogged(numbered(4, 4)));

    redis.thaw();
    recordSkipped();

    List<LogEvent> unlogged = events(log.read(ref, first, 10));
    assertThat(payloads(unlogged)).startsWith("2", "3");
    assertThat(unlogged.get(1).last()).isTrue();
    assertThat(hasOwner()).isFalse();
    ReadResult gap = other.read(ref, first, 10);
    assertThat(gap).isInstanceOf(ReadResult.Gap.class);
    Position goOn = ((ReadResult.Gap) gap).resumeAfter().orElseThrow();
    List<LogEvent> rest = events(other.read(ref, goOn, 10));
    assertThat(payloads(rest)).containsExactly("");
    assertThat(rest.getFirst().last()).isTrue();
    assertThat(other.read(ref, rest.getFirst().position(), 1))
        .isEqualTo(new ReadResult.EndOfStream());
  }

  @Test
  void shouldDeliverNothingWithoutATail() {
    writer.append(numbered(1, 1));
    redis.kill();

    assertThat(writer.deliverUnlogged(numbered(2, 2))).isFalse();

    redis.restart();
    await().ignoreExceptions().until(() -> writer.append(numbered(2, 2)).number() == 2);
    assertThat(stored()).isEqualTo(2);
  }

  /** Events keep their order: this tail must first read others from Redis. */
  @Test
  void shouldDeliverNothingToATailThatIsBehind() {
    log.watch(ref, Position.START, new CountingWatcher()).close();
    writer.append(numbered(1, 1));
    log.watch(ref, Position.START, new CountingWatcher());
    Position second = writer.append(numbered(2, 2));
    redis.kill();

    assertThat(writer.deliverUnlogged(numbered(3, 3))).isFalse();
    assertThat(catchThrowable(() -> log.read(ref, Position.START, 10))).isNotNull();
    assertThat(writer.deliverUnlogged(numbered(3, 3))).isFalse();
    assertThat(events(log.read(ref, second, 10))).isEmpty();
    assertThat(writer.deliverUnlogged(numbered(3, 3))).isTrue();
  }

  /** A tail may be slow. Further events wait in the upstream. */
  @Test
  void shouldStopDeliveringToATailThatDoesNotRead() {
    follow();
    redis.kill();
    List<NewEvent> large = List.of(new NewEvent(new byte[100_000], null, false));

    int passed = 0;
    while (writer.deliverUnlogged(large)) {
      passed++;
      assertThat(passed).isLessThan(10);
    }

    assertThat(passed).isGreaterThan(1);
  }

  @Test
  void shouldContinueAfterARestartFromAnOlderState() {
    Position first = follow();
    Position third = writer.append(numbered(2, 3));
    log.read(ref, first, 10);
    redis.command("XTRIM", Replica.KEYS.stream(ref.key().value(), ref.name()), "MAXLEN", "0");
    redis.command("HSET", Replica.KEYS.session(ref.key().value()), "l:" + ref.name(), "1-1");
    assertThat(other.read(ref, third, 10)).isInstanceOf(ReadResult.Gap.class);

    // The local tail has all events, so it finds no gap, and soon no other reader does.
    assertThat(events(log.read(ref, third, 10))).isEmpty();
    assertThat(events(log.read(ref, third, 10))).isEmpty();
    assertThat(events(other.read(ref, third, 10))).isEmpty();
    Position fourth = writer.append(numbered(4, 4));

    assertThat(fourth.number()).isEqualTo(4);
    assertThat(payloads(log.read(ref, third, 10))).containsExactly("4");
    assertThat(other.read(ref, first, 10)).isEqualTo(new ReadResult.Gap(fourth));
  }

  @Test
  void shouldEndWhenRedisComesBackEmpty() {
    Position first = follow();
    redis.kill();
    assertThat(writer.deliverUnlogged(numbered(2, 2))).isTrue();
    Position second = events(log.read(ref, first, 10)).getLast().position();
    redis.restart();
    await().until(() -> redis.command("FLUSHALL").equals("+OK"));

    await()
        .ignoreExceptionsInstanceOf(LogException.StoreUnavailable.class)
        .ignoreExceptionsInstanceOf(LogException.OutcomeUnknown.class)
        .untilAsserted(() ->
            assertThatExceptionOfType(LogException.Fenced.class).isThrownBy(writer::recordSkipped));

    writer.recordSkipped();
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> writer.deliverUnlogged(numbered(3, 3)));
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> writer.append(numbered(3, 3)));
    assertThat(log.read(ref, second, 10)).isEqualTo(new ReadResult.NoSuchStream());
    assertThat(log.isWrittenHere(ref)).isFalse();
  }
}
