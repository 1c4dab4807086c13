package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import org.jspecify.annotations.Nullable;

/** A message from a server. For one thread at a time. */
public final class UpstreamMessage {

  private final byte[] payload;
  private final @Nullable String eventId;
  private @Nullable Body body;

  /**
   * Creates a message.
   *
   * @param payload JSON on one line. Not copied, so it must not be changed.
   * @param eventId the server's id of the event, after which its stream can be resumed; null for
   *     none
   */
  public UpstreamMessage(byte[] payload, @Nullable String eventId) {
    this.payload = payload;
    this.eventId = eventId;
  }

  /** Returns the exact bytes. The array is shared and must not be changed. */
  public byte[] payload() {
    return payload;
  }

  /** Returns the server's id of the event; null for none. */
  public @Nullable String eventId() {
    return eventId;
  }

  /**
   * Returns what the payload holds. Reads it once.
   *
   * @throws dev.holdfast.protocol.EnvelopeException if it is no JSON-RPC
   */
  public Body body() {
    if (body == null) {
      body = Envelopes.read(payload);
    }
    return body;
  }
}
