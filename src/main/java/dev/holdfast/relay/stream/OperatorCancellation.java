package dev.holdfast.relay.stream;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import java.util.Optional;

/**
 * Cancellations by an operator, which go through inboxes. The replica that runs the call tells the
 * server of it, and answers the client with an error: unlike a client that cancels, this one waits.
 * A client that sends such a message reaches only its own calls, as with any cancellation.
 */
public final class OperatorCancellation {

  private static final String KEY = "dev.holdfast/operator";

  private OperatorCancellation() {}

  /** Returns the notification that cancels a request. */
  public static byte[] of(RequestId request) {
    return JsonRpcMessages.of(Methods.NOTIFICATIONS_CANCELLED)
        .set(request.json(), "params", "requestId")
        .set(JsonEdit.quote("cancelled by an operator of the gateway"), "params", "reason")
        .set("true", "params", "_meta", KEY)
        .toBytes();
  }

  /**
   * Puts the cancellations of a call into its inbox.
   *
   * @return false if the call is not open
   * @throws LogException.InboxFull when there is no room for one
   */
  public static boolean put(Inbox inbox, StreamRef call) {
    Optional<Inbox.OpenCall> open =
        inbox.openCalls(call.key()).stream().filter(each -> each.stream().equals(call)).findFirst();
    open.ifPresent(found ->
        RequestId.parse(found.requests())
            .forEach(request -> {
              boolean _ = inbox.put(call, of(request));
            }));
    return open.isPresent();
  }

  /** Returns true if a body cancels requests for an operator. */
  public static boolean is(Body body) {
    return !body.cancelledRequestIds().isEmpty()
        && "true".equals(JsonEdit.raw(body.bytes(), "params", "_meta", KEY));
  }
}
