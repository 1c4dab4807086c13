package dev.holdfast.relay.pump;

import static dev.holdfast.relay.pump.PumpFixture.PROGRESS;
import static dev.holdfast.relay.pump.PumpFixture.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogTesting.CountingWatcher;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.testing.LoggedLines;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Pumps whose client reads more slowly than the server sends. */
class HeldBackPumpTest {

  private static final int WINDOW = 2000;

  private final PumpFixture pumps = new PumpFixture();
  private final AtomicInteger streams = new AtomicInteger();

  /** A pump whose client is a window behind, and to which its server has sent the result. */
  private final class HeldBack {
    final ScriptedSource source = new ScriptedSource();
    final String stream = "h" + streams.incrementAndGet();
    final StreamWriter writer = pumps.fixture.open(stream);
    final EventLog.Watch reader =
        pumps.fixture.log.watch(LogFixture.ref(stream), Position.START, new CountingWatcher());
    final Pump pump = pumps.pump(writer, () -> source, "1");

    HeldBack() {
      int appended = pumps.fixture.heard.appended.get();
      int held = pumps.fixture.heard.heldBack.get();
      Thread _ = pumps.start(pump);
      source.bring(Collections.nCopies(WINDOW, PROGRESS).toArray(String[]::new));
      await().until(() -> pumps.fixture.heard.appended.get() == appended + WINDOW);
      source.bring(result("1"));
      await().until(() -> pumps.fixture.heard.heldBack.get() == held + 1);
      assertThat(pumps.fixture.logged(stream)).hasSize(WINDOW);
    }
  }

  @Test
  void shouldWaitForItsClient() {
    HeldBack held = new HeldBack();

    held.reader.advanced(new Position(LogFixture.START_MILLIS, WINDOW), 1);

    await().until(() -> pumps.ended.contains(held.pump));
    assertThat(pumps.fixture.logged(held.stream)).hasSize(WINDOW + 1);
  }

  @Test
  void shouldNotWaitForItsClientOnceItIsCancelled() {
    HeldBack held = new HeldBack();

    held.pump.cancel(new RequestId("1"), false);

    await().until(() -> pumps.ended.contains(held.pump));
  }

  @Test
  void shouldSayThatItWaits() {
    try (LoggedLines log = new LoggedLines(Appender.class)) {
      log.awaitRepeating("server waits for its client", () -> new HeldBack().pump.stop());
    }
  }
}
