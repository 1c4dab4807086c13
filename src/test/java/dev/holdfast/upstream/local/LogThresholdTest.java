package dev.holdfast.upstream.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class LogThresholdTest {

  private final Levels levels = new Levels();
  private final LogThreshold threshold = new LogThreshold(levels, "s");

  /** Knows one level, or like those in Redis while that is away, none. */
  private static final class Levels implements LogLevels {

    private final AtomicInteger asked = new AtomicInteger();
    private volatile boolean away;
    private volatile Duration delay = Duration.ZERO;

    @Override
    public void put(String session, LogLevel level) {
      var _ = find(session);
    }

    @Override
    public Optional<LogLevel> find(String session) {
      asked.incrementAndGet();
      LockSupport.parkNanos(delay.toNanos());
      if (away) {
        throw new UpstreamException.Broken("away", null);
      }
      return Optional.of(LogLevel.ALERT);
    }

    @Override
    public void remove(String session) {}
  }

  @Test
  void shouldNotAskForEachMessage() {
    for (int i = 0; i < 1000; i++) {
      assertThat(threshold.lets(LogLevel.CRITICAL)).isFalse();
      assertThat(threshold.lets(LogLevel.ALERT)).isTrue();
    }

    assertThat(levels.asked).hasValueLessThan(10);
  }

  @Test
  void shouldGoByTheDefaultWhileNobodyCanTell() {
    levels.away = true;

    assertThat(threshold.lets(LogLevel.DEBUG)).isFalse();
    assertThat(threshold.lets(LogLevel.INFO)).isTrue();
  }

  @Test
  void shouldGoByTheLevelBeforeWhileNobodyCanTell() {
    assertThat(threshold.lets(LogLevel.CRITICAL)).isFalse();
    levels.away = true;

    await()
        .until(() -> {
          assertThat(threshold.lets(LogLevel.CRITICAL)).isFalse();
          return levels.asked.get() > 1;
        });

    assertThat(threshold.lets(LogLevel.CRITICAL)).isFalse();
  }

  /** As with a Redis that is frozen; each message would hold up its tool. */
  @Test
  void shouldNotSoonAskAgainWhoTookLongAndCouldNotTell() {
    levels.away = true;
    levels.delay = Duration.ofMillis(1100);

    for (int i = 0; i < 10; i++) {
      assertThat(threshold.lets(LogLevel.DEBUG)).isFalse();
    }

    assertThat(levels.asked).hasValue(1);
  }

  @Test
  void shouldRefuseALevelThatIsNotKept() {
    levels.away = true;
    try (LocalUpstream upstream =
        new LocalUpstream(LocalFeatures.of(List.of()), levels, "test", "1")) {
      LocalClient client = LocalClient.open(upstream);

      assertThat(
              client.ask(
                  """
                  {"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}\
                  """))
          .contains("\"id\":1", "-32603");
    }
  }
}
