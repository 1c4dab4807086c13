package dev.holdfast.http.socket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a server may stop. Before, it stopped after half a second whatever arrived meanwhile. */
@Timeout(60)
class LastRequestsTest {

  private static final Duration SHORT = Duration.ofMillis(20);
  private static final Duration HOUR = Duration.ofHours(1);

  private static Thread awaiting(LastRequests requests, BooleanSupplier hasConnections) {
    return Thread.ofVirtual()
        .start(() -> {
          try {
            requests.await(hasConnections);
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
          }
        });
  }

  @Test
  void shouldWaitForARequestInProgress() throws Exception {
    LastRequests requests = new LastRequests(SHORT, HOUR);
    requests.began();
    Thread stopping = awaiting(requests, () -> true);

    assertThat(stopping.join(SHORT.multipliedBy(10))).isFalse();

    requests.ended();
    stopping.join();
  }

  @Test
  void shouldWaitWhileRequestsStillArrive() throws Exception {
    LastRequests requests = new LastRequests(HOUR, HOUR);
    AtomicBoolean connected = new AtomicBoolean(true);
    Thread stopping = awaiting(requests, connected::get);
    requests.began();
    requests.ended();

    assertThat(stopping.join(SHORT.multipliedBy(10))).isFalse();

    connected.set(false);
    stopping.join();
  }

  @Test
  void shouldNotWaitForConnectionsWithoutRequests() throws Exception {
    awaiting(new LastRequests(SHORT, HOUR), () -> true).join();
  }

  @Test
  void shouldNotWaitLongerThanTheBound() throws Exception {
    LastRequests requests = new LastRequests(SHORT, SHORT.multipliedBy(5));
    requests.began();
    Thread stopping = awaiting(requests, () -> true);

    await().until(() -> !stopping.isAlive());
  }
}
