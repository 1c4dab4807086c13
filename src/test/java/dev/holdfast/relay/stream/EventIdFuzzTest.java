package dev.holdfast.relay.stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.holdfast.log.StreamRef;
import dev.holdfast.testing.Corpus;

class EventIdFuzzTest {

  /** An id becomes part of a key in the store, so only the form that the gateway writes counts. */
  @Corpus("event-ids")
  @FuzzTest
  void shouldParseOnlyWhatTheGatewayWrites(byte[] input) {
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
  }
}
