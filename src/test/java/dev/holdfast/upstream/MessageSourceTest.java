package dev.holdfast.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MessageSourceTest {

  @Test
  void shouldReturnItsMessageOnceAndEnd() {
    byte[] payload = {1, 2};
    UpstreamMessage message = new UpstreamMessage(payload, null);
    MessageSource source = MessageSource.of(List.of(message));

    assertThat(source.take()).containsExactly(message);
    assertThat(source.take()).isEmpty();
    assertThat(source.take()).isEmpty();
    source.close();
  }
}
