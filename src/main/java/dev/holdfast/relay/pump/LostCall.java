package dev.holdfast.relay.pump;

import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.FixedMessageSource;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;

/** The end of calls that cannot be continued: an error for each. */
public final class LostCall {

  public static final String TEXT =
      "The replica that ran the request was lost; the outcome of the request is unknown";

  /** Where no replica is left to go on. */
  public static final String STOPPED =
      "The gateway was stopped; the outcome of the request is unknown";

  private LostCall() {}

  public static MessageSource of(List<RequestId> requests) {
    return new FixedMessageSource(
        requests.stream().map(id -> new UpstreamMessage(error(id, TEXT), null)).toList());
  }

  static byte[] error(RequestId id, String text) {
    return JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR.code(), text);
  }
}
