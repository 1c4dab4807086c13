package dev.holdfast.upstream.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.upstream.http.Reconnector.ReconnectPolicy.Attempt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReconnectPolicyTest {

  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration CEILING = Duration.ofSeconds(30);

  private static List<Duration> failing(
      Reconnector.ReconnectPolicy policy, Duration retry, int times) {
    List<Duration> delays = new ArrayList<>();
    Reconnector.ReconnectPolicy current = policy;
    for (int i = 0; i < times; i++) {
      Attempt attempt = current.afterFailure(retry, 0).orElseThrow();
      delays.add(attempt.delay());
      current = attempt.next();
    }
    return delays;
  }

  @Test
  void shouldDoubleTheDelayOfFailuresUpToTheCeiling() {
    assertThat(failing(Reconnector.ReconnectPolicy.endless(CEILING), SECOND, 7))
        .extracting(Duration::toSeconds)
        .containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L);
  }

  @Test
  void shouldGiveUpAtTheLimit() {
    // given
    Reconnector.ReconnectPolicy policy = Reconnector.ReconnectPolicy.limited(2, CEILING);

    // when
    Attempt first = policy.afterFailure(SECOND, 0).orElseThrow();
    Attempt second = first.next().afterFailure(SECOND, 0).orElseThrow();

    // then
    assertThat(second.next().afterFailure(SECOND, 0)).isEmpty();
    assertThat(second.next().afterProgress().afterFailure(SECOND, 0)).contains(first);
  }

  @Test
  void endlessShouldNeverGiveUpNorWaitLongerThanTheCeiling() {
    assertThat(failing(Reconnector.ReconnectPolicy.endless(CEILING), Duration.ofDays(20), 1000))
        .containsOnly(CEILING);
  }

  @Test
  void shouldSpreadFailuresButNeverComeEarly() {
    // when
    Attempt attempt =
        Reconnector.ReconnectPolicy.endless(CEILING).afterFailure(SECOND, 0.5).orElseThrow();

    // then
    assertThat(attempt.delay()).isEqualTo(Duration.ofMillis(1100));
  }

  @Test
  void withoutRetryFailuresShouldStillBackOff() {
    assertThat(failing(Reconnector.ReconnectPolicy.endless(CEILING), Duration.ZERO, 3))
        .extracting(Duration::toMillis)
        .containsExactly(50L, 100L, 200L);
  }

  @Test
  void shouldWaitExactlyTheRetryAfterAnOrderlyClose() {
    // when
    Attempt attempt =
        Reconnector.ReconnectPolicy.limited(0, CEILING).afterClose(Duration.ofMillis(500));

    // then
    assertThat(attempt.delay()).isEqualTo(Duration.ofMillis(500));
  }

  @Test
  void shouldSlowDownQuietClosesAndNeverGiveUp() {
    // given
    Reconnector.ReconnectPolicy current = Reconnector.ReconnectPolicy.limited(0, CEILING);
    List<Long> delays = new ArrayList<>();

    // when
    for (int i = 0; i < 100; i++) {
      Attempt attempt = current.afterClose(Duration.ZERO);
      delays.add(attempt.delay().toMillis());
      current = attempt.next();
    }

    // then
    assertThat(delays).startsWith(0L, 50L, 100L, 200L, 400L, 800L, 1000L).endsWith(1000L);
    assertThat(current.afterProgress().afterClose(Duration.ZERO).delay()).isZero();
  }

  @Test
  void orderlyCloseShouldResetFailures() {
    // given
    Reconnector.ReconnectPolicy failed =
        Reconnector.ReconnectPolicy.limited(1, CEILING)
            .afterFailure(SECOND, 0)
            .orElseThrow()
            .next();

    // when, then
    assertThat(failed.afterFailure(SECOND, 0)).isEmpty();
    assertThat(failed.afterClose(SECOND).next().afterFailure(SECOND, 0)).isPresent();
  }
}
