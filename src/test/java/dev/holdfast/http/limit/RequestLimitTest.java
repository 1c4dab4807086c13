package dev.holdfast.http.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.holdfast.http.error.ErrorResponses;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class RequestLimitTest {

  private final RequestLimit limit = new RequestLimit(2, Map.of("a", 1, "b", 2));

  private Response within(String upstream, Supplier<Response> work) {
    return ErrorResponses.onFailure(null, () -> limit.within(upstream, work));
  }

  private Response within(String upstream) {
    return within(upstream, () -> Response.ok().build());
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
  void shouldReleaseThePermitWhenWorkFails() {
    assertThatIllegalStateException()
        .isThrownBy(() ->
            limit.within(
                "a",
                () -> {
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
}
