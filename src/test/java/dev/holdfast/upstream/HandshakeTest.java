package dev.holdfast.upstream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.protocol.InitializeRequest;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Answers of servers to {@code initialize}. */
class HandshakeTest {

  /** They are kept until the response comes, and nobody counts them. */
  @Test
  void shouldTakeFewMessagesBeforeTheResponse() {
    byte[] message =
        ("{\"jsonrpc\":\"2.0\",\"method\":\"said\",\"params\":{\"x\":\""
                + "y".repeat(1000)
                + "\"}}")
            .getBytes(UTF_8);
    AtomicLong bytes = new AtomicLong();

    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() ->
            Handshake.read(
                InitializeRequest.of("test", "1"),
                () -> {
                  bytes.addAndGet(message.length);
                  return List.of(new UpstreamMessage(message, null));
                },
                Integer.MAX_VALUE,
                null,
                _ -> true));

    assertThat(bytes.get()).isBetween(256L << 10, 258L << 10);
  }
}
