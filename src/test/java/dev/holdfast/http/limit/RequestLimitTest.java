package dev.holdfast.http.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.http.error.ErrorResponses;
import dev.holdfast.http.error.RequestRejectedException;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class RequestLimitTest {

  private static final Client ADDRESS = Client.at("192.0.2.1");

  private static final Client ALICE = new Client("key alice", true);
  private static final Client BOB = new Client("key bob", true);

  private final RequestLimit limit = limit(2, 3, Map.of("a", 1, "b", 2));

  private static RequestLimit limit(int all, int perClient, Map<String, Integer> byUpstream) {
    return new RequestLimit(
        () -> all,
        () -> perClient,
        OptionalInt::empty,
        name ->
            byUpstream.containsKey(name)
                ? OptionalInt.of(byUpstream.get(name))
                : OptionalInt.empty());
  }

  @Test
  void shouldRefuseRequestsPastTheLimit() {
    try (RequestLimit.Place _ = limit.enter("a", ADDRESS)) {
      Response refused = refusal(() -> limit.enter("a", ADDRESS));

      assertThat(refused.getStatus()).isEqualTo(503);
      assertThat(refused.getHeaderString("Retry-After")).matches("[1-4]");
    }

    limit.enter("a", ADDRESS).close();
    assertThat(limit.used()).isZero();
  }

  @Test
  void shouldFollowAChangeOfItsNumbers() {
    AtomicInteger most = new AtomicInteger(1);
    RequestLimit changing =
        new RequestLimit(() -> 10, () -> 10, OptionalInt::empty, _ -> OptionalInt.of(most.get()));

    try (RequestLimit.Place _ = changing.enter("a", ADDRESS)) {
      assertThat(refusal(() -> changing.enter("a", ADDRESS)).getStatus()).isEqualTo(503);
      most.set(2);
      changing.enter("a", ADDRESS).close();
    }

    assertThat(changing.used()).isZero();
  }

  @Test
  void shouldLeaveRoomForOtherUpstreams() {
    try (RequestLimit.Place _ = limit.enter("a", ADDRESS)) {
      assertThat(refusal(() -> limit.enter("a", ADDRESS)).getStatus()).isEqualTo(503);
      try (RequestLimit.Place _ = limit.enter("b", ADDRESS)) {
        // Two requests are in progress, as many as all upstreams may have.
        assertThat(refusal(() -> limit.enter("b", ADDRESS)).getStatus()).isEqualTo(503);
        assertThat(refusal(() -> limit.enter("nobody", ADDRESS)).getStatus()).isEqualTo(503);
      }
    }
  }

  @Test
  void shouldCountRequestsOfAllEndpointsOfAnUpstream() {
    try (RequestLimit.Place _ = limit.enter("a", ADDRESS)) {
      assertThat(limit.tryEnter("a", OptionalInt.of(1))).isFalse();
    }
    assertThat(limit.tryEnter("a", OptionalInt.of(1))).isTrue();
    assertThat(refusal(() -> limit.enter("a", ADDRESS)).getStatus()).isEqualTo(503);
    assertThat(limit.tryEnter("a", OptionalInt.empty())).isTrue();
    limit.leave("a");
    limit.leave("a");
    limit.enter("a", ADDRESS).close();
  }

  @Test
  void shouldLeaveRoomForOtherClients() {
    RequestLimit wide = limit(10, 1, Map.of());

    try (RequestLimit.Place _ = wide.enter("a", ADDRESS)) {
      Response refused = refusal(() -> wide.enter("b", ADDRESS));

      assertThat(refused.getStatus()).isEqualTo(429);
      assertThat(refused.getHeaderString("Retry-After")).matches("[1-4]");
      wide.enter("a", Client.at("192.0.2.2")).close();
    }

    wide.enter("a", ADDRESS).close();
  }

  @Test
  void shouldCountARequestForItsOwner() {
    RequestLimit wide = limit(10, 1, Map.of());

    try (RequestLimit.Place _ = owned(wide, ALICE)) {
      assertThat(refusal(() -> owned(wide, ALICE)).getStatus()).isEqualTo(429);
      owned(wide, BOB).close();
    }

    owned(wide, ALICE).close();
    assertThat(wide.used()).isZero();
  }

  @Test
  void shouldCountARequestForItsAddressUntilItsOwnerIsKnown() {
    RequestLimit wide = limit(10, 1, Map.of());

    try (RequestLimit.Place _ = wide.enter("a", ADDRESS)) {
      assertThat(refusal(() -> owned(wide, BOB)).getStatus()).isEqualTo(429);
    }
  }

  private static RequestLimit.Place owned(RequestLimit limited, Client owner) {
    RequestLimit.Place place = limited.enter("a", ADDRESS);
    try {
      place.belongTo(owner);
      return place;
    } catch (RequestRejectedException refused) {
      place.close();
      throw refused;
    }
  }

  /** The response to a request that is not admitted. */
  private static Response refusal(Supplier<RequestLimit.Place> request) {
    return ErrorResponses.of(
        catchThrowableOfType(RequestRejectedException.class, request::get), null);
  }
}
