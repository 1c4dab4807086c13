package dev.holdfast.retry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BackoffTest {

  @Test
  void shouldDoubleStoreDelaysUpToBound() {
    Stream<Long> delays =
        Stream.iterate(Backoff.STORE, Backoff::next).limit(8).map(b -> b.delay().toMillis());

    assertThat(delays).containsExactly(20L, 40L, 80L, 160L, 320L, 640L, 1000L, 1000L);
  }

  @Test
  void shouldDoubleUpstreamDelaysUpToBound() {
    Stream<Long> delays =
        Stream.iterate(Backoff.UPSTREAM, Backoff::next).limit(8).map(b -> b.delay().toMillis());

    assertThat(delays).containsExactly(500L, 1000L, 2000L, 4000L, 8000L, 16_000L, 30_000L, 30_000L);
  }
}
