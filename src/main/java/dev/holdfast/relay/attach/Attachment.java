package dev.holdfast.relay.attach;

import dev.holdfast.relay.tail.Receipt;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.upstream.UpstreamException;
import org.jspecify.annotations.Nullable;

/**
 * Call that was begun.
 *
 * @param first reads the call that it repeats; null if it must be executed
 * @param receipt receives the outcome of its response; null if no call can repeat it
 * @param confirmation throws {@link UpstreamException.Busy} if another replica executes the call,
 *     because this one was silent for too long. To run before the server gets the call
 */
public record Attachment(@Nullable Tail first, @Nullable Receipt receipt, Runnable confirmation) {

  static final Attachment NONE = new Attachment(null, null, () -> {});

  /** Follows the stream of the call that was executed. */
  public Tail following(Tail tail) {
    return receipt == null ? tail : tail.reporting(receipt);
  }

  /** Notes that the call has failed before it had a stream, and its client is told. */
  public void failed() {
    if (receipt != null) {
      receipt.delivered();
    }
  }
}
