package dev.holdfast.relay.tail;

import dev.holdfast.log.Position;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import java.util.ArrayList;
import java.util.List;
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

  /** Translates messages for this request, before another translation. */
  Translation before(Translation next) {
    return new ForRequest(next);
  }

  /** Translates for the request. A call that ends without a response was cancelled. */
  private final class ForRequest extends ForwardingTranslation {

    private Position newest = Position.START;
    private boolean answered;

    ForRequest(Translation next) {
      super(next);
    }

    @Override
    public byte[] translate(Position position, byte[] message) {
      newest = position;
      byte[] own = renamed(message);
      return own.length == 0 ? own : super.translate(position, own);
    }

    private byte[] renamed(byte[] message) {
      if (!(Envelopes.read(message) instanceof Body.Single(Message single))) {
        return message;
      }
      return switch (single) {
        case Message.Response response -> {
          answered = true;
          yield new JsonEdit().set(id.json(), "id").apply(response.bytes());
        }
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

    @Override
    public List<byte[]> atEnd() {
      if (answered) {
        return super.atEnd();
      }
      byte[] error = JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR, CANCELLED);
      List<byte[]> last = new ArrayList<>(List.of(translate(newest, error)));
      last.addAll(super.atEnd());
      return last;
    }
  }
}
