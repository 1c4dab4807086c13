package dev.holdfast.http.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.http.limit.ConnectionLimit.Slot;
import dev.holdfast.testing.LoggedLines;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class ConnectionLimitTest {

  private static final Client A = Client.at("192.0.2.1");
  private static final Client B = Client.at("192.0.2.2");

  private final ConnectionLimit limit = new ConnectionLimit(() -> 3, () -> 2, 100, 10);

  @Test
  void shouldLimitEachClient() {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      Slot first = limit.acquire(A);
      limit.acquire(A);

      assertThatExceptionOfType(RequestRejectedException.class)
          .isThrownBy(() -> limit.acquire(A))
          .withMessageContaining("this client");

      assertThatCode(() -> limit.acquire(B)).doesNotThrowAnyException();
      first.release();
      assertThatCode(() -> limit.acquire(A)).doesNotThrowAnyException();
      log.await("client reached its connection limit client=");
    }
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

  /** Before, answers that nobody read could fill the heap. */
  @Test
  void shouldLimitTheBytesThatWaitForAClient() {
    Slot slow = limit.acquire(A);
    Slot other = limit.acquire(A);
    assertThat(slow.tryHold(20)).isTrue();

    assertThat(other.tryHold(6)).isFalse();
    assertThatExceptionOfType(RequestRejectedException.class)
        .isThrownBy(() -> other.hold(65 << 10))
        .returns(503, RequestRejectedException::status);
    other.hold(6); // A small answer.

    assertThat(other.tryHold(5)).isTrue();
    assertThat(limit.acquire(B).tryHold(25)).isTrue();
    slow.giveBack();
    slow.giveBack();
    assertThat(other.tryHold(20)).isTrue();
    assertThat(other.tryHold(1)).isFalse();
  }

  @Test
  void shouldLimitTheBytesThatWaitInAll() {
    ConnectionLimit wide = new ConnectionLimit(() -> 1000, () -> 1000, 100, 10);
    for (int i = 0; i < 4; i++) {
      assertThat(wide.acquire(Client.at("192.0.2." + i)).tryHold(25)).isTrue();
    }

    assertThat(wide.acquire(Client.at("192.0.2.99")).tryHold(1)).isFalse();
  }

  /** Otherwise an attacker that changes addresses fills the memory. */
  @Test
  void shouldForgetClientsWithoutASlot() {
    for (int i = 0; i < 100; i++) {
      limit.acquire(Client.at("192.0.2." + i)).release();
    }

    assertThat(limit.clients()).isZero();
  }

  @Test
  void shouldCountConcurrentClients() {
    ConnectionLimit wide = new ConnectionLimit(() -> 1000, () -> 1000, 100, 10);
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 2000; i++) {
        Client client = i % 2 == 0 ? A : B;
        clients.execute(() -> acquireAndRelease(wide, client));
      }
    }

    assertThat(wide.clients()).isZero();
    for (int i = 0; i < 1000; i++) {
      wide.acquire(A);
    }
    assertThatExceptionOfType(RequestRejectedException.class).isThrownBy(() -> wide.acquire(B));
  }

  private static void acquireAndRelease(ConnectionLimit limit, Client client) {
    try {
      limit.acquire(client).release();
    } catch (RequestRejectedException full) {
      assertThat(full).hasMessageStartingWith("Too many connections");
    }
  }
}
