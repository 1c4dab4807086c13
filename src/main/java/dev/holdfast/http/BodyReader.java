package dev.holdfast.http;

import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.http.limit.ClientBytes;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.origin.HttpConfig;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.relay.pump.InterruptibleWait;
import dev.holdfast.timer.TimeLimit;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Arrays;

/**
 * Reads request bodies within limits on their size, their time and the bytes of all of them. Until
 * it reads, a body waits in the socket. Thread-safe.
 *
 * @param bytes the limit on the bytes of all bodies
 */
@Singleton
record BodyReader(int maxBytes, int maxBatchMessages, Duration timeout, ClientBytes bytes) {

  private static final int FIRST_BYTES = 16 << 10;

  @Inject
  BodyReader(LimitsConfig limits, HttpConfig config, ClientBytes bytes) {
    this(limits.messageBytes().value(), limits.batchMessages(), config.bodyTimeout(), bytes);
  }

  /**
   * Reads a body.
   *
   * @param declared the length that the client declares; negative when unknown
   * @param lease takes the bytes before this holds them
   * @throws RequestRejectedException when a limit is reached, or the body ends early
   */
  Body read(int declared, InputStream content, ClientBytes.Lease lease) {
    if (declared > maxBytes) {
      throw tooLarge();
    }
    InterruptibleWait wait = new InterruptibleWait();
    try {
      byte[] body =
          wait.during(() -> {
            try (TimeLimit _ = TimeLimit.start(timeout, wait::end)) {
              return readBytes(declared, content, lease);
            }
          });
      return Envelopes.read(body, maxBatchMessages);
    } catch (IOException cutOff) {
      if (cutOff instanceof InterruptedIOException && wait.isEnded()) {
        throw new RequestRejectedException(408, "The body took too long");
      }
      throw new RequestRejectedException(400, JsonRpcErrorCode.PARSE_ERROR, "The body ended early");
    }
  }

  private byte[] readBytes(int declared, InputStream content, ClientBytes.Lease lease)
      throws IOException {
    // Without a declared length, one byte more shows the end before the array is full.
    int most = declared < 0 ? maxBytes + 1 : declared;
    byte[] bytes = new byte[0];
    int length = 0;
    int read = 0;
    // The end of a declared length needs no further wait.
    while (read >= 0 && length != declared) {
      if (length == bytes.length) {
        if (length > maxBytes) {
          throw tooLarge();
        }
        int larger = Math.min(most, Math.max(FIRST_BYTES, 2 * length));
        lease.take(larger - bytes.length);
        bytes = Arrays.copyOf(bytes, larger);
      }
      read = content.read(bytes, length, bytes.length - length);
      length += Math.max(read, 0);
    }
    return length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
  }

  private RequestRejectedException tooLarge() {
    return new RequestRejectedException(413, "A message may have at most " + maxBytes + " bytes");
  }
}
