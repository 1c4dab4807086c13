package dev.holdfast.relay.pump;

import static dev.holdfast.relay.pump.PumpFixture.broken;
import static dev.holdfast.relay.pump.PumpFixture.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogException;
import dev.holdfast.protocol.RequestId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class PumpStoreTest {

  private final PumpFixture pumping = new PumpFixture();

  private static RuntimeException away() {
    return new LogException.StoreUnavailable("append", null);
  }

  private static RuntimeException unknown() {
    return new LogException.OutcomeUnknown("append", null);
  }

  private static String message(int number) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"n\":" + number + "}}";
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4})
  void shouldWaitWhileTheStoreIsAway(int times) {
    for (int i = 0; i < times; i++) {
      pumping.writer.failBefore(PumpStoreTest::away);
    }
    pumping.source.bring(message(1), message(2)).bring(result("1"));

    pumping.pump("1").run();

    assertThat(pumping.logged()).containsExactly(message(1), message(2), result("1"));
    assertThat(pumping.fixture.heard.appended).hasValue(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4})
  void shouldWriteOnceAfterAnUnknownOutcome(int times) {
    for (int i = 0; i < times; i++) {
      pumping.writer.failAfter(PumpStoreTest::unknown);
    }
    pumping.source.bring(message(1), message(2)).bring(result("1"));

    pumping.pump("1").run();

    assertThat(pumping.logged()).containsExactly(message(1), message(2), result("1"));
  }

  /** Under any faults of the store, every event is in the log once and in order. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void shouldWriteEveryEventOnceInOrder(long seed) {
    Random random = new Random(seed);
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      if (random.nextBoolean()) {
        pumping.writer.failBefore(
            random.nextBoolean() ? PumpStoreTest::away : PumpStoreTest::unknown);
      } else {
        pumping.writer.failAfter(PumpStoreTest::unknown);
      }
      pumping.writer.succeed();
      String[] messages = new String[1 + random.nextInt(5)];
      for (int m = 0; m < messages.length; m++) {
        messages[m] = message(expected.size());
        expected.add(messages[m]);
      }
      pumping.source.bring(messages);
    }
    pumping.source.bring(result("1"));
    expected.add(result("1"));

    pumping.pump("1").run();

    assertThat(pumping.logged()).isEqualTo(expected);
    assertThat(pumping.isComplete()).isTrue();
  }

  @Test
  void shouldEndTheStreamAfterAnOutage() {
    pumping
        .writer
        .failBefore(PumpStoreTest::away)
        .failAfter(PumpStoreTest::unknown)
        .failBefore(PumpStoreTest::away);
    pumping.source.end();

    pumping.pump("1").run();

    assertThat(pumping.logged()).containsExactly(broken("1"));
    assertThat(pumping.isComplete()).isTrue();
  }

  @Test
  void shouldEndWithoutAnEventWhenCancelledDuringAnOutage() throws InterruptedException {
    CountDownLatch cancelled = new CountDownLatch(1);
    CountDownLatch away = new CountDownLatch(1);
    pumping.writer.failBefore(() -> {
      away.countDown();
      await().until(() -> cancelled.getCount() == 0);
      return away();
    });
    pumping.source.bring(message(1));
    Pump pump = pumping.pump("1");
    Thread thread = pumping.start(pump);
    away.await();

    pump.cancel(RequestId.of(1), false);
    cancelled.countDown();
    thread.join();

    assertThat(pumping.logged()).containsExactly(message(1), "");
  }
}
