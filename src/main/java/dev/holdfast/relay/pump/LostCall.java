package dev.holdfast.relay.pump;

import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.FixedMessageSource;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;

/** The error responses of calls that no replica can continue. */
public final class LostCall {

  /** The text when the replica that ran the call was lost. */
  public static final String TEXT =
      "The replica that ran the request was lost; the outcome of the request is unknown";

  /** The text when the gateway stops and there is no other replica. */
  public static final String STOPPED =
      "The gateway was stopped; the outcome of the request is unknown";

  private LostCall() {}

  /** A source with one error for each request. */
  public static MessageSource of(List<RequestId> requests) {
    return new FixedMessageSource(
        requests.stream().map(id -> new UpstreamMessage(error(id, TEXT), null)).toList());
  }

  static byte[] error(RequestId id, String text) {
    return JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR.code(), text);
  }
}
