package dev.holdfast.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CachedValueTest {

  private final AtomicInteger reads = new AtomicInteger();

  @Test
  void shouldReturnTheCachedValueWhileItIsFresh() {
    Gauges.CachedValue<Integer> cached =
        new Gauges.CachedValue<>(Duration.ofHours(1), reads::incrementAndGet);

    assertThat(cached.get()).isEqualTo(1);
    assertThat(cached.get()).isEqualTo(1);
  }

  @Test
  void shouldReadAnExpiredValueAgain() {
    Gauges.CachedValue<Integer> cached =
        new Gauges.CachedValue<>(Duration.ofNanos(-1), reads::incrementAndGet);

    assertThat(cached.get()).isEqualTo(1);
    assertThat(cached.get()).isEqualTo(2);
  }
}
