package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import jakarta.ws.rs.core.Response;
import org.junit.jupiter.api.Test;

class RequestLimitTest {

  private final RequestLimit limit = new RequestLimit(1);

  @Test
  void shouldRefuseWhatIsTooMuchAtOnce() {
    Response[] inner = new Response[1];

    Response outer =
        limit.within(() -> {
          inner[0] = limit.within(RequestLimitTest::ok);
          return ok();
        });

    assertThat(outer.getStatus()).isEqualTo(200);
    assertThat(inner[0].getStatus()).isEqualTo(503);
    assertThat(inner[0].getHeaderString("Retry-After")).isEqualTo("1");
    assertThat(limit.within(RequestLimitTest::ok).getStatus()).isEqualTo(200);
  }

  @Test
  void shouldMakeRoomWhenWorkFails() {
    assertThatIllegalStateException()
        .isThrownBy(() ->
            limit.within(() -> {
              throw new IllegalStateException();
            }));

    assertThat(limit.within(RequestLimitTest::ok).getStatus()).isEqualTo(200);
  }

  private static Response ok() {
    return Response.ok().build();
  }
}
