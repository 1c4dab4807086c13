package dev.holdfast.upstream;

import dev.holdfast.budget.LogRate;
import dev.holdfast.protocol.EnvelopeScanner;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import java.time.Duration;
import java.util.function.Consumer;
import org.jboss.logging.Logger;

/**
 * A message of a server that was skipped to its end. It is larger than the limit, or than the
 * memory that other messages leave.
 *
 * @param scan has read the whole message
 * @param limit in bytes
 */
public record OversizedMessage(EnvelopeScanner scan, int limit) {

  private static final Logger LOG = Logger.getLogger(OversizedMessage.class);
  private static final LogRate DROPPED = new LogRate(Duration.ofSeconds(1));

  /** A message of more than this many times the limit has no end: its connection ends instead. */
  public static final long ENDLESS = 32;

  /** Returns true if a request waits for the message. */
  public boolean mayBeResponse() {
    return scan.mayBeMessage() && !scan.hasMethod();
  }

  /** The failure of the request that the message answers. */
  public UpstreamException.TooLarge failure() {
    return new UpstreamException.TooLarge(scan.bytes(), true, limit);
  }

  /**
   * Logs that the message is dropped.
   *
   * @param refuse gets the error for the server if the message is a request, which no client gets
   */
  public void drop(String upstream, Consumer<byte[]> refuse) {
    DROPPED.log(
        LOG,
        Logger.Level.WARN,
        () ->
            "message dropped, too large upstream=%s bytes=%d %s=%d"
                .formatted(upstream, scan.bytes(), UpstreamException.TooLarge.KEY, limit));
    RequestId id = scan.hasMethod() ? scan.id() : null;
    if (id != null) {
      refuse.accept(
          JsonRpcErrors.error(
              id,
              JsonRpcErrorCode.INVALID_REQUEST,
              "Invalid Request: longer than " + limit + " bytes"));
    }
  }
}
