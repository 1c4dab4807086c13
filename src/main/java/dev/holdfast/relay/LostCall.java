package dev.holdfast.relay;

import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;

/**
 * The end of calls that cannot be continued: an error for each. Owned by the thread of one {@link
 * Pump}.
 */
final class LostCall implements MessageSource {

  static final String TEXT =
      "The replica that ran the request was lost; the outcome of the request is unknown";

  /** Where no replica is left to go on. */
  static final String STOPPED = "The gateway was stopped; the outcome of the request is unknown";

  private List<UpstreamMessage> left;

  LostCall(List<RequestId> requests) {
    left = requests.stream().map(LostCall::error).toList();
  }

  private static UpstreamMessage error(RequestId id) {
    return new UpstreamMessage(error(id, TEXT), null);
  }

  static byte[] error(RequestId id, String text) {
    return JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR.code(), text);
  }

  @Override
  public List<UpstreamMessage> take() {
    List<UpstreamMessage> taken = left;
    left = List.of();
    return taken;
  }

  @Override
  public void close() {
    // There is no connection to let go of.
  }
}
