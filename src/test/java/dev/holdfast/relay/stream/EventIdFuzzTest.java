package dev.holdfast.relay.stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.StreamRef;
import dev.holdfast.testing.Fuzzer;
import org.junit.jupiter.api.Test;

class EventIdFuzzTest {

  /** An id becomes part of a key in the store, so only the form that the gateway writes counts. */
  @Test
  void shouldParseOnlyWhatTheGatewayWrites() {
    Fuzzer.fuzz(
        "event-ids",
        50_000,
        (input, _) -> {
          String text = new String(input, UTF_8);

          EventId.parse(text)
              .ifPresent(id -> {
                assertThat(id.toString()).isEqualTo(text);
                assertThat(id.session()).isNull();
                assertThat(StreamRef.isName(id.stream())).isTrue();
              });
          EventId.parseWithSession(text)
              .ifPresent(id -> {
                assertThat(id.toString()).isEqualTo(text);
                assertThat(id.session()).isNotNull();
                assertThat(StreamRef.isName(id.stream())).isTrue();
              });
        });
  }
}
