package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import jakarta.ws.rs.core.Response;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RequestLimitTest {

  private final RequestLimit limit =
      new RequestLimit(2, new UpstreamLimits(Map.of("a", 1, "b", 2)));

  @Test
  void shouldRefuseWhatIsTooMuchAtOnce() {
    Response[] inner = new Response[1];

    Response outer =
        limit.within(
            "a",
            () -> {
              inner[0] = limit.within("a", RequestLimitTest::ok);
              return ok();
            });

    assertThat(outer.getStatus()).isEqualTo(200);
    assertThat(inner[0].getStatus()).isEqualTo(503);
    assertThat(inner[0].getHeaderString("Retry-After")).isEqualTo("1");
    assertThat(limit.within("a", RequestLimitTest::ok).getStatus()).isEqualTo(200);
  }

  @Test
  void shouldMakeRoomWhenWorkFails() {
    assertThatIllegalStateException()
        .isThrownBy(() ->
            limit.within(
                "a",
                () -> {
                  throw new IllegalStateException();
                }));

    assertThat(limit.within("a", RequestLimitTest::ok).getStatus()).isEqualTo(200);
  }

  @Test
  void shouldLeaveRoomForOtherUpstreams() {
    int[] statuses = new int[4];

    Response outer =
        limit.within(
            "a",
            () -> {
              statuses[0] = limit.within("a", RequestLimitTest::ok).getStatus();
              statuses[1] =
                  limit
                      .within(
                          "b",
                          () -> {
                            // Of all there may be two.
                            statuses[2] = limit.within("b", RequestLimitTest::ok).getStatus();
                            statuses[3] = limit.within("nobody", RequestLimitTest::ok).getStatus();
                            return ok();
                          })
                      .getStatus();
              return ok();
            });

    assertThat(outer.getStatus()).isEqualTo(200);
    assertThat(statuses).containsExactly(503, 200, 503, 503);
  }

  private static Response ok() {
    return Response.ok().build();
  }
}
