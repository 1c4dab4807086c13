package dev.holdfast.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FixedMessageSourceTest {

  @Test
  void shouldReturnItsMessageOnceAndEnd() {
    byte[] payload = {1, 2};
    FixedMessageSource source = new FixedMessageSource(payload);

    assertThat(source.take()).containsExactly(new UpstreamMessage(payload, null));
    assertThat(source.take()).isEmpty();
    assertThat(source.take()).isEmpty();
    source.close();
  }
}
