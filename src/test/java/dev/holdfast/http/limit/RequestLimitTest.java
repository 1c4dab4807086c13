package dev.holdfast.http.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.holdfast.http.error.ErrorResponses;
import dev.holdfast.session.PrincipalId;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class RequestLimitTest {

  private static final Client ADDRESS = Client.at("192.0.2.1");

  private static final Client ALICE = Client.of(new PrincipalId("key", "alice"), "192.0.2.1");
  private static final Client BOB = Client.of(new PrincipalId("key", "bob"), "192.0.2.1");

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

  private Response within(String upstream, Supplier<Response> work) {
    return ErrorResponses.onFailure(null, () -> limit.within(upstream, ADDRESS, _ -> work.get()));
  }

  private Response within(String upstream) {
    return within(upstream, this::ok);
  }

  @Test
  void shouldRefuseRequestsPastTheLimit() {
    Response[] inner = new Response[1];

    Response outer =
        within(
            "a",
            () -> {
              inner[0] = within("a");
              return Response.ok().build();
            });

    assertThat(outer.getStatus()).isEqualTo(200);
    assertThat(inner[0].getStatus()).isEqualTo(503);
    assertThat(inner[0].getHeaderString("Retry-After")).isEqualTo("1");
    assertThat(within("a").getStatus()).isEqualTo(200);
  }

  @Test
  void shouldFollowAChangeOfItsNumbers() {
    AtomicInteger most = new AtomicInteger(1);
    RequestLimit changing =
        new RequestLimit(() -> 10, () -> 10, OptionalInt::empty, _ -> OptionalInt.of(most.get()));
    Supplier<Response> refused =
        () -> ErrorResponses.onFailure(null, () -> changing.within("a", ADDRESS, _ -> ok()));

    assertThat(changing.within("a", ADDRESS, _ -> refused.get()).getStatus()).isEqualTo(503);
    most.set(2);
    assertThat(changing.within("a", ADDRESS, _ -> refused.get()).getStatus()).isEqualTo(200);
    assertThat(changing.used()).isZero();
  }

  @Test
  void shouldReleaseThePermitWhenWorkFails() {
    assertThatIllegalStateException()
        .isThrownBy(() ->
            limit.within(
                "a",
                ADDRESS,
                _ -> {
                  throw new IllegalStateException();
                }));

    assertThat(within("a").getStatus()).isEqualTo(200);
  }

  @Test
  void shouldLeaveRoomForOtherUpstreams() {
    int[] statuses = new int[4];

    Response outer =
        within(
            "a",
            () -> {
              statuses[0] = within("a").getStatus();
              statuses[1] =
                  within(
                          "b",
                          () -> {
                            // Two requests are in progress, as many as all upstreams may have.
                            statuses[2] = within("b").getStatus();
                            statuses[3] = within("nobody").getStatus();
                            return Response.ok().build();
                          })
                      .getStatus();
              return Response.ok().build();
            });

    assertThat(outer.getStatus()).isEqualTo(200);
    assertThat(statuses).containsExactly(503, 200, 503, 503);
  }

  @Test
  void shouldLeaveRoomForOtherClients() {
    RequestLimit wide = limit(10, 1, Map.of());
    Response[] inner = new Response[2];

    wide.within(
        "a",
        ADDRESS,
        _ -> {
          inner[0] = ErrorResponses.onFailure(null, () -> wide.within("b", ADDRESS, _ -> ok()));
          inner[1] =
              ErrorResponses.onFailure(
                  null, () -> wide.within("a", Client.at("192.0.2.2"), _ -> ok()));
          return "";
        });

    assertThat(inner[0].getStatus()).isEqualTo(429);
    assertThat(inner[0].getHeaderString("Retry-After")).isEqualTo("1");
    assertThat(inner[1].getStatus()).isEqualTo(200);
    assertThat(wide.within("a", ADDRESS, _ -> ok()).getStatus()).isEqualTo(200);
  }

  @Test
  void shouldCountARequestForItsOwner() {
    RequestLimit wide = limit(10, 1, Map.of());
    Response[] inner = new Response[2];

    Response outer =
        wide.within(
            "a",
            ADDRESS,
            place -> {
              place.belongTo(ALICE);
              inner[0] = owned(wide, ALICE);
              inner[1] = owned(wide, BOB);
              return ok();
            });

    assertThat(outer.getStatus()).isEqualTo(200);
    assertThat(inner[0].getStatus()).isEqualTo(429);
    assertThat(inner[1].getStatus()).isEqualTo(200);
    assertThat(owned(wide, ALICE).getStatus()).isEqualTo(200);
  }

  @Test
  void shouldCountARequestForItsAddressUntilItsOwnerIsKnown() {
    RequestLimit wide = limit(10, 1, Map.of());
    Response[] inner = new Response[1];

    Response outer =
        wide.within(
            "a",
            ADDRESS,
            _ -> {
              inner[0] = owned(wide, BOB);
              return ok();
            });

    assertThat(outer.getStatus()).isEqualTo(200);
    assertThat(inner[0].getStatus()).isEqualTo(429);
  }

  private Response owned(RequestLimit limited, Client owner) {
    return ErrorResponses.onFailure(
        null,
        () ->
            limited.within(
                "a",
                ADDRESS,
                place -> {
                  place.belongTo(owner);
                  return ok();
                }));
  }

  private Response ok() {
    return Response.ok().build();
  }
}
