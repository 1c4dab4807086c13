package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A message from a server. For one thread at a time. */
public final class UpstreamMessage {

  private final byte[] payload;
  private final @Nullable String eventId;
  private final UpstreamException.@Nullable TooLarge failure;
  private @Nullable Body body;

  /**
   * Creates a message.
   *
   * @param payload JSON on one line. Not copied, so it must not be changed.
   * @param eventId the server's id of the event, after which its stream can be resumed; null for
   *     none
   */
  public UpstreamMessage(byte[] payload, @Nullable String eventId) {
    this(payload, eventId, null);
  }

  private UpstreamMessage(
      byte[] payload, @Nullable String eventId, UpstreamException.@Nullable TooLarge failure) {
    this.payload = payload;
    this.eventId = eventId;
    this.failure = failure;
  }

  /** The same message with another id of its event. */
  public UpstreamMessage withEventId(@Nullable String id) {
    if (Objects.equals(id, eventId)) {
      return this;
    }
    UpstreamMessage other = new UpstreamMessage(payload, id, failure);
    other.body = body;
    return other;
  }

  /** Creates the error in place of a response that was too large. */
  public static UpstreamMessage tooLarge(
      RequestId id, UpstreamException.TooLarge failure, @Nullable String eventId) {
    byte[] error = JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR, failure.clientMessage());
    return new UpstreamMessage(error, eventId, failure);
  }

  /** Returns why this error takes the place of a response; null for any other message. */
  public UpstreamException.@Nullable TooLarge failure() {
    return failure;
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
