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

/** What is sent again, and what might be done twice. */
class SafeRetryTest {

  private final AtomicInteger attempts = new AtomicInteger();

  private int failOnce(UpstreamException failure) {
    if (attempts.getAndIncrement() == 0) {
      throw failure;
    }
    return attempts.get();
  }

  static Stream<UpstreamException> ofUnknownOutcome() {
    return Stream.of(
        // A gateway that does not know whether the replica with the session has had it.
        new UpstreamException.Refused(502, null, null),
        new UpstreamException.Refused(502, null, Duration.ZERO),
        new UpstreamException.Refused(503, null, null),
        new UpstreamException.Refused(504, null, null),
        new UpstreamException.TimedOut("silent"),
        new UpstreamException.Broken("cut off", null));
  }

  @ParameterizedTest
  @MethodSource("ofUnknownOutcome")
  void shouldNotRepeatWhatMayBeDone(UpstreamException failure) {
    assertThatExceptionOfType(UpstreamException.class)
        .isThrownBy(() -> new SafeRetry(Duration.ofMinutes(1)).until(() -> failOnce(failure)))
        .isSameAs(failure);

    assertThat(attempts).hasValue(1);
  }

  static Stream<UpstreamException> ofWhatWasNotDone() {
    return Stream.of(
        new UpstreamException.Busy(), new UpstreamException.Refused(503, null, Duration.ZERO));
  }

  @ParameterizedTest
  @MethodSource("ofWhatWasNotDone")
  void shouldRepeatWhatWasNotDone(UpstreamException failure) {
    int answer = new SafeRetry(Duration.ofMinutes(1)).until(() -> failOnce(failure));

    assertThat(answer).isEqualTo(2);
  }

  @Test
  void shouldNotRepeatWhatNobodyWantsAnyMore() {
    UpstreamException busy = new UpstreamException.Busy();

    assertThatExceptionOfType(UpstreamException.class)
        .isThrownBy(
            () -> new SafeRetry(Duration.ofMinutes(1)).until(() -> failOnce(busy), () -> true))
        .isSameAs(busy);
  }
}
