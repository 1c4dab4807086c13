package dev.holdfast.relay.tail;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import org.jspecify.annotations.Nullable;

/**
 * Request that gets the messages of an earlier one, under its own id and progress token.
 *
 * @param progressToken raw JSON; null if it wants no progress
 * @param answers whether the server gets the client's answers to what it asks
 */
public record RepeatedRequest(RequestId id, @Nullable String progressToken, boolean answers) {

  private static final byte[] NOTHING = {};
  private static final String CANCELLED = "The call was cancelled; its outcome is unknown";

  /** Returns a message for the client; empty if it gets none. */
  byte[] translate(byte[] message) {
    if (!(Envelopes.read(message) instanceof Body.Single(Message single))) {
      return message;
    }
    return switch (single) {
      case Message.Response response -> new JsonEdit().set(id.json(), "id").apply(response.bytes());
      case Message.Notification progress
          when progress.method().equals(Methods.NOTIFICATIONS_PROGRESS) ->
          progressToken == null
              ? NOTHING
              : new JsonEdit()
                  .set(progressToken, "params", "progressToken")
                  .apply(progress.bytes());
      case Message.Request _ when !answers -> NOTHING;
      default -> message;
    };
  }

  /** The response in place of that of a cancelled call. */
  byte[] cancelled() {
    return JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR, CANCELLED);
  }
}
