package dev.holdfast.relay.pump;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.NewEvent;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.testing.LoggedLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The store is away for longer than events wait. */
@Timeout(30)
class PumpOutageTest {

  private final PumpFixture pumping = new PumpFixture();
  private final UnavailableWriter writer = new UnavailableWriter();
  private final Pump pump = pumping.pump(writer, () -> pumping.source, "1");

  private static List<String> payloads(List<NewEvent> events) {
    return events.stream().map(event -> new String(event.payload(), UTF_8)).toList();
  }

  @Test
  void shouldDeliverEventsUnloggedAfterTheHold() {
    writer.away = true;
    pumping.source.bring("{\"jsonrpc\":\"2.0\",\"method\":\"a\"}");
    long start = System.nanoTime();
    Thread thread = pumping.start(pump);

    await().until(() -> writer.passed.size() == 1);

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(PumpFixture.HOLD);
    assertThat(writer.attempts.get()).isGreaterThan(1);
    assertThat(writer.stored).isEmpty();
    assertThat(pumping.fixture.heard.unlogged).hasValue(1);
    assertThat(thread.isAlive()).isTrue();
  }

  /** The hold includes the time of an append that no thread waited for. */
  @Test
  void shouldCountTheHoldFromTheFirstAttempt() throws Exception {
    pumping.source.telling().bring(PumpFixture.PROGRESS);
    pump.run();
    pumping.source.bring(PumpFixture.PROGRESS);
    assertThat(writer.later).hasSize(1);
    Thread.sleep(PumpFixture.HOLD);
    int attempts = writer.attempts.get();

    writer.away = true;
    writer.later.getFirst().accept(false);
    await().until(() -> writer.passed.size() == 1);

    assertThat(writer.attempts).hasValue(attempts + 1);
  }

  /** After one event has waited, the next need not wait: the store is known to be away. */
  @Test
  void shouldDeliverLaterEventsAtOnceAndAppendWhenTheStoreIsBack() throws Exception {
    writer.away = true;
    pumping.source.bring(PumpFixture.PROGRESS);
    Thread thread = pumping.start(pump);
    await().until(() -> writer.passed.size() == 1);
    int attempts = writer.attempts.get();

    pumping.source.bring(PumpFixture.PROGRESS);
    await().until(() -> writer.passed.size() == 2);
    assertThat(writer.attempts).hasValue(attempts);

    writer.away = false;
    // No further event is needed: a separate thread tells the store.
    await().until(() -> writer.told.get() == 2);
    pumping.source.bring(PumpFixture.PROGRESS);
    await().until(() -> writer.stored.size() == 1 || writer.passed.size() == 3);
    pumping.source.bring(PumpFixture.result("1"));
    thread.join();

    assertThat(payloads(writer.stored)).endsWith(PumpFixture.result("1"));
    assertThat(writer.told).hasValue(writer.passed.size());
  }

  /** A full Redis takes small commands, and refuses each large one. */
  @Test
  void shouldWaitOnceForAStoreThatRefusesEventAfterEvent() throws Exception {
    Duration hold = Duration.ofSeconds(2);
    Appender appender = new Appender(writer, "test", hold, pumping.fixture.heard, null);
    writer.full = true;
    long start = System.nanoTime();

    for (int i = 1; i <= 10; i++) {
      int passed = i;
      appender.append(List.of(new NewEvent(PumpFixture.PROGRESS.getBytes(UTF_8), null, false)));
      await().until(() -> writer.told.get() == passed);
    }

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(hold, hold.multipliedBy(5));
    assertThat(writer.passed).hasSize(10);
  }

  /** While this process was frozen, the store did not have its time to come back. */
  @Test
  void shouldTryOnceMoreAfterAThaw() throws Exception {
    writer.frozen = PumpFixture.HOLD.multipliedBy(2);
    pumping.source.bring(PumpFixture.PROGRESS).bring(PumpFixture.result("1"));

    pumping.start(pump).join();

    assertThat(writer.passed).isEmpty();
    assertThat(payloads(writer.stored))
        .containsExactly(PumpFixture.PROGRESS, PumpFixture.result("1"));
  }

  /** No other thread tells the store what it has missed. */
  @Test
  void shouldTellTheStoreAgainAfterAnUnexpectedFailure() {
    try (LoggedLines log = new LoggedLines(OutageDelivery.class)) {
      log.awaitRepeating(
          "the store takes events again stream=",
          () -> {
            writer.away = true;
            writer.failsOnce = true;
            ScriptedSource source = new ScriptedSource().bring(PumpFixture.result("1"));
            int before = writer.passed.size();
            Thread thread = pumping.start(pumping.pump(writer, () -> source, "1"));
            await().until(() -> writer.passed.size() > before);
            writer.away = false;
            await().until(() -> !thread.isAlive());
          });

      log.await("not settled yet stream=");
      assertThat(writer.told).hasValue(writer.passed.size());
    }
  }

  /** An outage hits all streams at once. */
  @Test
  void shouldNotLogALineForEachStream() throws Exception {
    writer.away = true;
    writer.attached = false;
    try (LoggedLines log = new LoggedLines(Appender.class)) {
      long begun = System.nanoTime();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        ScriptedSource source = new ScriptedSource().bring(PumpFixture.result("1"));
        threads.add(pumping.start(pumping.pump(writer, () -> source, "1")));
      }
      await().until(() -> writer.attempts.get() >= 60);
      writer.away = false;
      for (Thread thread : threads) {
        thread.join();
      }

      // None if another test has just logged one.
      assertThat(log.lines()).allMatch(line -> line.contains("append waits for the store"));
      assertThat((long) log.lines().size())
          .isLessThanOrEqualTo(1 + Duration.ofNanos(System.nanoTime() - begun).toSeconds());
    }
  }

  /** Without a client the events would be lost for nothing. */
  @Test
  void shouldWaitForTheStoreWithoutAClient() throws Exception {
    writer.away = true;
    writer.attached = false;
    pumping.source.bring(PumpFixture.PROGRESS).bring(PumpFixture.result("1"));
    Thread thread = pumping.start(pump);
    long end = System.nanoTime() + PumpFixture.HOLD.multipliedBy(3).toNanos();

    await().until(() -> System.nanoTime() > end && writer.attempts.get() > 2);
    assertThat(writer.passed).isEmpty();
    writer.away = false;
    thread.join();

    assertThat(payloads(writer.stored))
        .containsExactly(PumpFixture.PROGRESS, PumpFixture.result("1"));
    assertThat(pumping.fixture.heard.unlogged).hasValue(0);
  }

  @Test
  void shouldKeepRunningUntilTheStoreKnowsTheEnd() throws Exception {
    writer.away = true;
    pumping.source.bring(PumpFixture.result("1"));
    Thread thread = pumping.start(pump);
    await().until(() -> writer.passed.size() == 1);

    assertThat(writer.passed.getFirst().last()).isTrue();
    assertThat(thread.isAlive()).isTrue();
    assertThat(writer.told).hasValue(0);
    writer.away = false;
    thread.join();

    assertThat(writer.told).hasValue(1);
  }

  @Test
  void shouldStopWhenAnotherReplicaOwnsTheStreamAfterAnOutage() throws Exception {
    writer.away = true;
    pumping.source.bring(PumpFixture.PROGRESS);
    Thread thread = pumping.start(pump);
    await().until(() -> writer.passed.size() == 1);

    writer.fenced = true;
    pumping.source.bring(PumpFixture.PROGRESS);
    thread.join();

    assertThat(writer.passed).hasSize(1);
    assertThat(writer.stored).isEmpty();
  }
}
