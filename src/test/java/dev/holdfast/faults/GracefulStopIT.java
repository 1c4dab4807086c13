package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Gateway;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The promise for short requests under way when a replica is stopped. */
@Timeout(60)
class GracefulStopIT {

  /**
   * The server closed all its connections at once: those that it had just accepted, and those whose
   * clients were sending the next request.
   */
  @Test
  void shouldAnswerEveryRequestThatWasSent() throws Exception {
    try (Gateway gateway = Gateway.start(Map.of())) {
      ShortCalls calls = new ShortCalls(gateway, 24);
      await().until(() -> calls.count("200") > 300);
      gateway.terminate();

      List<String> unanswered = calls.awaitUnanswered();

      assertThat(unanswered).as(calls + gateway.output()).isEmpty();
      // Each client that keeps its connection was told to let go of it.
      assertThat(calls.count("503 close") + calls.count("200 close"))
          .as(calls.toString())
          .isPositive();
      assertThat(gateway.awaitEnd(10)).isTrue();
    }
  }
}
