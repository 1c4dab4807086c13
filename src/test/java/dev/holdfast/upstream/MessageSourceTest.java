package dev.holdfast.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MessageSourceTest {

  @Test
  void shouldReturnItsMessageOnceAndEnd() {
    byte[] payload = {1, 2};
    MessageSource source = MessageSource.of(payload);

    assertThat(source.take()).containsExactly(new UpstreamMessage(payload, null));
    assertThat(source.take()).isEmpty();
    assertThat(source.take()).isEmpty();
    source.close();
  }
}
