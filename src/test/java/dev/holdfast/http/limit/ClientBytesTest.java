package dev.holdfast.http.limit;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.http.limit.ClientBytes.Lease;
import org.junit.jupiter.api.Test;

class ClientBytesTest {

  private static final Client A = Client.at("192.0.2.1");
  private static final Client B = Client.at("192.0.2.2");

  private final ClientBytes budget = new ClientBytes(1000, 100);

  private static void assertRefused(Lease lease, long bytes, String message) {
    assertThatExceptionOfType(RequestRejectedException.class)
        .isThrownBy(() -> lease.take(bytes))
        .withMessageContaining(message)
        .returns(503, RequestRejectedException::status);
  }

  @Test
  void shouldLeaveThreeQuartersToOtherClients() {
    budget.open(A).take(200);

    assertRefused(budget.open(A), 51, "this client");

    assertThatCode(() -> budget.open(A).take(50)).doesNotThrowAnyException();
    assertThatCode(() -> budget.open(B).take(250)).doesNotThrowAnyException();
  }

  @Test
  void shouldLimitAllClientsTogether() {
    for (int i = 0; i < 10; i++) {
      budget.open(Client.at("192.0.2." + i)).take(100);
    }

    assertRefused(budget.open(Client.at("192.0.2.99")), 1, "try again");
  }

  @Test
  void shouldGiveBytesBackOnce() {
    Lease lease = budget.open(A);
    lease.take(100);
    lease.take(100);
    Lease other = budget.open(A);
    other.take(50);

    lease.close();
    lease.release();

    assertRefused(budget.open(A), 201, "this client");
    assertThatCode(() -> budget.open(A).take(200)).doesNotThrowAnyException();
  }

  /** A pump may hold the body longer than the request that brought it. */
  @Test
  void shouldKeepBytesThatAreHandedOver() {
    Lease lease = budget.open(A);
    lease.take(250);
    lease.handOver();
    lease.close();
    assertRefused(budget.open(A), 1, "this client");

    lease.release();

    assertThatCode(() -> budget.open(A).take(250)).doesNotThrowAnyException();
  }

  /** Otherwise no client could send the largest message to a gateway with a small heap. */
  @Test
  void shouldHaveRoomForTheLargestMessage() {
    ClientBytes small = new ClientBytes(10, 100);

    Lease first = small.open(A);
    first.take(100);

    assertThatCode(() -> small.open(B).take(100)).doesNotThrowAnyException();
  }
}
