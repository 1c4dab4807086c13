package dev.holdfast.relay.tail;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.StreamRef;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EvictionBackoffTest {

  private static final Duration YOUNG = Duration.ofSeconds(1);
  private static final StreamRef STREAM = new StreamRef("session", "g");

  private final EvictionBackoff evictions = new EvictionBackoff(Duration.ofSeconds(5));

  private Duration retry() {
    return evictions.retryAfter(STREAM, YOUNG);
  }

  @Test
  void shouldDoubleTheRetryUpToAMinute() {
    assertThat(IntStream.range(0, 6).mapToObj(_ -> retry().toSeconds()))
        .containsExactly(5L, 10L, 20L, 40L, 60L, 60L);
  }

  @Test
  void shouldStayBoundedForAnyNumberOfEvictions() {
    IntStream.range(0, 100_000).forEach(_ -> retry());

    assertThat(retry()).isEqualTo(Duration.ofMinutes(1));
  }

  @Test
  void shouldNotShortenALongRetry() {
    Duration first = Duration.ofMinutes(10);
    EvictionBackoff slow = new EvictionBackoff(first);

    assertThat(slow.retryAfter(STREAM, YOUNG)).isEqualTo(first);
    assertThat(slow.retryAfter(STREAM, YOUNG)).isEqualTo(first);
  }

  @Test
  void shouldStartOverAfterALongConnection() {
    retry();
    retry();

    assertThat(evictions.retryAfter(STREAM, Duration.ofMinutes(2))).hasSeconds(5);
    assertThat(retry()).hasSeconds(10);
  }

  @Test
  void shouldCountEachStreamSeparately() {
    retry();
    retry();

    assertThat(evictions.retryAfter(new StreamRef("session", "h"), YOUNG)).hasSeconds(5);
  }

  @Test
  void shouldStartOverWhenCleared() {
    retry();
    retry();

    evictions.clear();

    assertThat(retry()).hasSeconds(5);
  }
}
