package dev.holdfast.http.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RequestRateTest {

  private static final Client ALICE = new Client("key alice", true);
  private static final Client BOB = new Client("key bob", true);

  private final AtomicReference<OptionalInt> most = new AtomicReference<>(OptionalInt.of(4));
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 10);
  private final RequestRate rate = new RequestRate(most::get, now::get);

  private int taken(Client client, int attempts) {
    return (int) IntStream.range(0, attempts).filter(_ -> rate.tryTake(client)).count();
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }

  @Test
  void shouldTakeAsManyAtOnceAsInASecond() {
    assertThat(taken(ALICE, 10)).isEqualTo(4);
  }

  @Test
  void shouldLeaveOtherClientsAlone() {
    taken(ALICE, 10);

    assertThat(taken(BOB, 4)).isEqualTo(4);
  }

  @Test
  void shouldTakeFurtherOnesAsTimePasses() {
    taken(ALICE, 10);

    pass(Duration.ofMillis(500));
    assertThat(taken(ALICE, 10)).isEqualTo(2);
    pass(Duration.ofHours(1));
    assertThat(taken(ALICE, 10)).isEqualTo(4);
  }

  @Test
  void shouldNotPunishRefusedRequests() {
    for (int i = 0; i < 100; i++) {
      taken(ALICE, 10);
      pass(Duration.ofMillis(10));
    }

    pass(Duration.ofMillis(250));
    assertThat(taken(ALICE, 10)).isPositive();
  }

  @Test
  void shouldFollowAChangeOfItsNumber() {
    taken(ALICE, 10);

    most.set(OptionalInt.empty());
    assertThat(taken(ALICE, 100)).isEqualTo(100);
    most.set(OptionalInt.of(1));
    pass(Duration.ofSeconds(1));
    assertThat(taken(ALICE, 100)).isEqualTo(1);
  }

  @Test
  void shouldRememberABoundedNumberOfClients() {
    for (int i = 0; i < RequestRate.MAX_CLIENTS + 10; i++) {
      assertThat(rate.tryTake(new Client("key " + i, true))).isTrue();
    }

    assertThat(rate.clients()).isEqualTo(RequestRate.MAX_CLIENTS);
  }

  @Test
  void withoutLimitShouldRememberNobody() {
    most.set(OptionalInt.empty());

    assertThat(taken(ALICE, 10)).isEqualTo(10);
    assertThat(rate.clients()).isZero();
  }
}
