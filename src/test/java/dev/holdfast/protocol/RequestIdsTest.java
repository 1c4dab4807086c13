package dev.holdfast.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RequestIdsTest {

  @Test
  void shouldParseWhatItFormatted() {
    List<RequestId> ids =
        List.of(
            RequestId.of(1),
            RequestId.of("a,\"b\\"),
            new RequestId("-1.5e3"),
            RequestId.of(""),
            RequestId.of(","));

    assertThat(RequestId.parse(RequestId.format(ids))).isEqualTo(ids);
  }

  @Test
  void shouldParseNoIdsFromAnEmptyText() {
    assertThat(RequestId.parse("")).isEmpty();
    assertThat(RequestId.format(List.of())).isEmpty();
  }
}
