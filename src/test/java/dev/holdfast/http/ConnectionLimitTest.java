package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.http.ConnectionLimit.Slot;
import dev.holdfast.http.ConnectionLimit.TooManyConnections;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class ConnectionLimitTest {

  private static final String A = "192.0.2.1";
  private static final String B = "192.0.2.2";

  private final ConnectionLimit limit = new ConnectionLimit(3, 2);

  @Test
  void shouldRefuseMoreOfOneClient() {
    Slot first = limit.take(A);
    limit.take(A);

    assertThatExceptionOfType(TooManyConnections.class)
        .isThrownBy(() -> limit.take(A))
        .withMessageContaining("this address");

    assertThatCode(() -> limit.take(B)).doesNotThrowAnyException();
    first.giveBack();
    assertThatCode(() -> limit.take(A)).doesNotThrowAnyException();
  }

  @Test
  void shouldRefuseMoreOfAllClients() {
    limit.take(A);
    limit.take(A);
    limit.take(B);

    assertThatExceptionOfType(TooManyConnections.class)
        .isThrownBy(() -> limit.take(B))
        .withMessage("Too many connections");
  }

  @Test
  void shouldGiveAPlaceBackOnce() {
    Slot first = limit.take(A);
    Slot second = limit.take(A);
    first.giveBack();
    first.giveBack();
    limit.take(A);

    assertThatExceptionOfType(TooManyConnections.class).isThrownBy(() -> limit.take(A));
    second.giveBack();
    limit.take(A);
  }

  /** Or an attacker who changes addresses fills the memory. */
  @Test
  void shouldRememberOnlyClientsThatAreThere() {
    for (int i = 0; i < 100; i++) {
      limit.take("192.0.2." + i).giveBack();
    }

    assertThat(limit.clients()).isZero();
  }

  @Test
  void shouldCountWellWhenManyComeAtOnce() {
    ConnectionLimit wide = new ConnectionLimit(1000, 1000);
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 2000; i++) {
        String address = i % 2 == 0 ? A : B;
        clients.execute(() -> takeAndGiveBack(wide, address));
      }
    }

    assertThat(wide.clients()).isZero();
    for (int i = 0; i < 1000; i++) {
      wide.take(A);
    }
    assertThatExceptionOfType(TooManyConnections.class).isThrownBy(() -> wide.take(B));
  }

  private static void takeAndGiveBack(ConnectionLimit limit, String address) {
    try {
      limit.take(address).giveBack();
    } catch (TooManyConnections full) {
      assertThat(full).hasMessageStartingWith("Too many connections");
    }
  }
}
