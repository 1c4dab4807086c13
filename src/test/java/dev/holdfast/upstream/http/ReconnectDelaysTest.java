package dev.holdfast.upstream.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.upstream.http.Reconnector.Delays;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReconnectDelaysTest {

  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration CEILING = Duration.ofSeconds(30);

  private static Delays endless() {
    return new Delays(Integer.MAX_VALUE, CEILING);
  }

  private static List<Duration> failing(Delays delays, Duration retry, int times) {
    List<Duration> all = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      all.add(delays.afterFailure(retry, 0).orElseThrow());
    }
    return all;
  }

  @Test
  void shouldDoubleTheDelayOfFailuresUpToTheCeiling() {
    assertThat(failing(endless(), SECOND, 7))
        .extracting(Duration::toSeconds)
        .containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L);
  }

  @Test
  void shouldGiveUpAtTheLimit() {
    Delays delays = new Delays(2, CEILING);
    List<Duration> first = failing(delays, SECOND, 2);

    assertThat(delays.afterFailure(SECOND, 0)).isEmpty();
    delays.progressed();
    assertThat(failing(delays, SECOND, 2)).isEqualTo(first);
  }

  @Test
  void endlessShouldNeverGiveUpNorWaitLongerThanTheCeiling() {
    assertThat(failing(endless(), Duration.ofDays(20), 1000)).containsOnly(CEILING);
  }

  @Test
  void shouldSpreadFailuresButNeverComeEarly() {
    assertThat(endless().afterFailure(SECOND, 0.5)).contains(Duration.ofMillis(1100));
  }

  @Test
  void withoutRetryFailuresShouldStillBackOff() {
    assertThat(failing(endless(), Duration.ZERO, 3))
        .extracting(Duration::toMillis)
        .containsExactly(50L, 100L, 200L);
  }

  @Test
  void shouldWaitExactlyTheRetryAfterAnOrderlyClose() {
    assertThat(new Delays(0, CEILING).afterClose(Duration.ofMillis(500))).hasMillis(500);
  }

  @Test
  void shouldSlowDownQuietClosesAndNeverGiveUp() {
    Delays delays = new Delays(0, CEILING);
    List<Long> all = new ArrayList<>();

    for (int i = 0; i < 100; i++) {
      all.add(delays.afterClose(Duration.ZERO).toMillis());
    }

    assertThat(all).startsWith(0L, 50L, 100L, 200L, 400L, 800L, 1000L).endsWith(1000L);
    delays.progressed();
    assertThat(delays.afterClose(Duration.ZERO)).isZero();
    assertThat(delays.afterClose(Duration.ZERO)).hasMillis(50);
  }

  @Test
  void orderlyCloseShouldResetFailures() {
    Delays delays = new Delays(1, CEILING);
    List<Duration> _ = failing(delays, SECOND, 1);
    assertThat(delays.afterFailure(SECOND, 0)).isEmpty();

    Duration _ = delays.afterClose(SECOND);

    assertThat(delays.afterFailure(SECOND, 0)).isPresent();
  }
}
