package dev.holdfast.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.http.limit.Client;
import dev.holdfast.http.limit.ClientBytes;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BodyReaderTest {

  private static final int LARGEST = 200_000;
  private static final Client ADDRESS = Client.at("192.0.2.1");

  private final ClientBytes budget = new ClientBytes(4 * LARGEST + 4, LARGEST);
  private final BodyReader reader = new BodyReader(LARGEST, 100, Duration.ofMinutes(1), budget);

  private static byte[] message(int length) {
    String start = "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"x\":\"";
    return (start + "x".repeat(length - start.length() - 3) + "\"}}").getBytes(UTF_8);
  }

  private static InputStream inPieces(byte[] bytes) {
    return new ByteArrayInputStream(bytes) {
      @Override
      public synchronized int read(byte[] to, int offset, int length) {
        return super.read(to, offset, Math.min(length, 8192));
      }
    };
  }

  @ParameterizedTest
  @ValueSource(ints = {60, 16_383, 16_384, 16_385, 100_000, LARGEST})
  void shouldReadABody(int length) {
    byte[] message = message(length);
    for (int declared : new int[] {length, -1}) {
      try (ClientBytes.Lease lease = budget.open(ADDRESS)) {
        Body body = reader.read(declared, inPieces(message), lease);

        assertThat(body.bytes()).isEqualTo(message);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {LARGEST + 1, -1})
  void shouldRefuseALargeBody(int declared) {
    assertRefused(declared, inPieces(message(LARGEST + 1)), 413);
  }

  @Test
  void shouldRefuseALargeBatch() {
    byte[] batch =
        Collections.nCopies(101, new String(message(60), UTF_8)).toString().getBytes(UTF_8);

    try (ClientBytes.Lease lease = budget.open(ADDRESS)) {
      assertThatExceptionOfType(EnvelopeException.class)
          .isThrownBy(() -> reader.read(batch.length, inPieces(batch), lease))
          .withMessageContaining("at most 100 messages");
    }
  }

  /** Before, an unfinished body cost the client nothing and the gateway all that had arrived. */
  @Test
  void shouldTakeBytesBeforeItHoldsThem() {
    try (ClientBytes.Lease other = budget.open(ADDRESS)) {
      other.take(LARGEST - 32_000);
      InputStream content = inPieces(message(LARGEST));

      assertRefused(LARGEST, content, 503);

      // The rest waits in the socket.
      assertThat(content).satisfies(rest -> assertThat(rest.available()).isGreaterThan(100_000));
    }
  }

  @Test
  void shouldGiveBytesBackAfterAFailure() {
    for (int i = 0; i < 100; i++) {
      assertRefused(LARGEST, new CutOff(message(100_000)), 400);
    }
  }

  private void assertRefused(int declared, InputStream content, int status) {
    assertThatExceptionOfType(RequestRejectedException.class)
        .isThrownBy(() -> {
          try (ClientBytes.Lease lease = budget.open(ADDRESS)) {
            Body _ = reader.read(declared, content, lease);
          }
        })
        .returns(status, RequestRejectedException::status);
  }

  /** Fails where it ends. */
  private static final class CutOff extends InputStream {
    private final InputStream bytes;

    private CutOff(byte[] bytes) {
      this.bytes = inPieces(bytes);
    }

    @Override
    public int read() throws IOException {
      throw new IOException("not read byte by byte");
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      int read = bytes.read(to, offset, length);
      if (read < 0) {
        throw new IOException("cut off");
      }
      return read;
    }
  }
}
