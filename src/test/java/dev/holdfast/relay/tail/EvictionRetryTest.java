package dev.holdfast.relay.tail;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EvictionRetryTest {

  private static final Duration YOUNG = Duration.ofSeconds(1);
  private static final StreamRef STREAM = new StreamRef(new LogKey("session"), "g");

  private static final Duration FIRST = Duration.ofSeconds(5);

  private final Tails tails = new Tails();

  private Duration retry() {
    return tails.retryAfterEviction(STREAM, YOUNG, FIRST);
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

    assertThat(tails.retryAfterEviction(STREAM, YOUNG, first)).isEqualTo(first);
    assertThat(tails.retryAfterEviction(STREAM, YOUNG, first)).isEqualTo(first);
  }

  @Test
  void shouldStartOverAfterALongConnection() {
    retry();
    retry();

    assertThat(tails.retryAfterEviction(STREAM, Duration.ofMinutes(2), FIRST)).hasSeconds(5);
    assertThat(retry()).hasSeconds(10);
  }

  @Test
  void shouldCountEachStreamSeparately() {
    retry();
    retry();

    assertThat(tails.retryAfterEviction(new StreamRef(new LogKey("session"), "h"), YOUNG, FIRST))
        .hasSeconds(5);
  }

  @Test
  void shouldStartOverWhenCleared() {
    retry();
    retry();

    tails.sweep();

    assertThat(retry()).hasSeconds(5);
  }
}
