package dev.holdfast.http.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.http.limit.ConnectionLimit.Slot;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class ConnectionLimitTest {

  private static final String A = "192.0.2.1";
  private static final String B = "192.0.2.2";

  private final ConnectionLimit limit = new ConnectionLimit(3, 2);

  @Test
  void shouldLimitEachClient() {
    Slot first = limit.acquire(A);
    limit.acquire(A);

    assertThatExceptionOfType(RequestRejectedException.class)
        .isThrownBy(() -> limit.acquire(A))
        .withMessageContaining("this address");

    assertThatCode(() -> limit.acquire(B)).doesNotThrowAnyException();
    first.release();
    assertThatCode(() -> limit.acquire(A)).doesNotThrowAnyException();
  }

  @Test
  void shouldLimitAllClientsTogether() {
    limit.acquire(A);
    limit.acquire(A);
    limit.acquire(B);

    assertThatExceptionOfType(RequestRejectedException.class)
        .isThrownBy(() -> limit.acquire(B))
        .withMessage("Too many connections");
  }

  @Test
  void shouldReleaseASlotOnce() {
    Slot first = limit.acquire(A);
    Slot second = limit.acquire(A);
    first.release();
    first.release();
    limit.acquire(A);

    assertThatExceptionOfType(RequestRejectedException.class).isThrownBy(() -> limit.acquire(A));
    second.release();
    limit.acquire(A);
  }

  /** Otherwise an attacker that changes addresses fills the memory. */
  @Test
  void shouldForgetClientsWithoutASlot() {
    for (int i = 0; i < 100; i++) {
      limit.acquire("192.0.2." + i).release();
    }

    assertThat(limit.clients()).isZero();
  }

  @Test
  void shouldCountConcurrentClients() {
    ConnectionLimit wide = new ConnectionLimit(1000, 1000);
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 2000; i++) {
        String address = i % 2 == 0 ? A : B;
        clients.execute(() -> acquireAndRelease(wide, address));
      }
    }

    assertThat(wide.clients()).isZero();
    for (int i = 0; i < 1000; i++) {
      wide.acquire(A);
    }
    assertThatExceptionOfType(RequestRejectedException.class).isThrownBy(() -> wide.acquire(B));
  }

  private static void acquireAndRelease(ConnectionLimit limit, String address) {
    try {
      limit.acquire(address).release();
    } catch (RequestRejectedException full) {
      assertThat(full).hasMessageStartingWith("Too many connections");
    }
  }
}
