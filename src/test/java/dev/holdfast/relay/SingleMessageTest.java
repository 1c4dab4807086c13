package dev.holdfast.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.upstream.UpstreamMessage;
import org.junit.jupiter.api.Test;

class SingleMessageTest {

  @Test
  void shouldBringItsMessageOnceAndThenEnd() {
    byte[] payload = {1, 2};
    SingleMessage source = new SingleMessage(payload);

    assertThat(source.take()).containsExactly(new UpstreamMessage(payload, null));
    assertThat(source.take()).isEmpty();
    assertThat(source.take()).isEmpty();
    source.close();
  }
}
