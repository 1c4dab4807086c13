package dev.holdfast.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which failures are retried. */
class SafeRetryTest {

  private final AtomicInteger attempts = new AtomicInteger();

  private int failOnce(UpstreamException failure) {
    if (attempts.getAndIncrement() == 0) {
      throw failure;
    }
    return attempts.get();
  }

  static Stream<UpstreamException> unknownOutcomes() {
    return Stream.of(
        // From a gateway that does not know whether the pinned session got the call.
        new UpstreamException.Refused(502, null, null),
        new UpstreamException.Refused(502, null, Duration.ZERO),
        new UpstreamException.Refused(503, null, null),
        new UpstreamException.Refused(504, null, null),
        new UpstreamException.TimedOut("silent"),
        new UpstreamException.Broken("cut off", null));
  }

  @ParameterizedTest
  @MethodSource("unknownOutcomes")
  void shouldNotRetryUnknownOutcome(UpstreamException failure) {
    assertThatExceptionOfType(UpstreamException.class)
        .isThrownBy(() -> SafeRetry.LONG.call(() -> failOnce(failure), () -> false))
        .isSameAs(failure);

    assertThat(attempts).hasValue(1);
  }

  static Stream<UpstreamException> undoneCalls() {
    return Stream.of(
        new UpstreamException.Busy(), new UpstreamException.Refused(503, null, Duration.ZERO));
  }

  @ParameterizedTest
  @MethodSource("undoneCalls")
  void shouldRetryCallThatWasNotDone(UpstreamException failure) {
    int answer = SafeRetry.LONG.call(() -> failOnce(failure), () -> false);

    assertThat(answer).isEqualTo(2);
  }

  @Test
  void shouldNotRetryCancelledCall() {
    UpstreamException busy = new UpstreamException.Busy();

    assertThatExceptionOfType(UpstreamException.class)
        .isThrownBy(() -> SafeRetry.LONG.call(() -> failOnce(busy), () -> true))
        .isSameAs(busy);
  }
}
