package dev.holdfast.relay.pump;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.protocol.RequestId;
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

    assertThat(PendingRequests.parse(PendingRequests.format(ids))).isEqualTo(ids);
  }

  @Test
  void shouldParseNoIdsFromAnEmptyText() {
    assertThat(PendingRequests.parse("")).isEmpty();
    assertThat(PendingRequests.format(List.of())).isEmpty();
  }
}
