package dev.holdfast.relay.pump;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** JSON-RPC errors in place of an upstream's responses. They say whether the outcome is known. */
public final class UpstreamErrors {

  /** The text when the replica that ran the request was lost, or Redis was for it. */
  public static final String REPLICA_LOST =
      "The replica that ran the request was lost or cut off; the outcome of the request is unknown";

  /** The text when the gateway stops and there is no other replica. */
  public static final String GATEWAY_STOPPED =
      "The gateway was stopped; the outcome of the request is unknown";

  private UpstreamErrors() {}

  /**
   * The error response to one request. It is the upstream's own error, if the upstream sent one.
   *
   * @param id the request; null when the failed message was no request
   */
  public static byte[] message(@Nullable RequestId id, UpstreamException failure) {
    if (failure instanceof UpstreamException.Refused refused) {
      byte[] error = refused.error();
      if (error != null && answers(error, id)) {
        return error;
      }
    }
    return JsonRpcErrors.error(id, code(failure), text(failure));
  }

  /** A source with one error for each request whose replica was lost. */
  public static MessageSource replicaLost(List<RequestId> requests) {
    return MessageSource.of(
        requests.stream().map(id -> new UpstreamMessage(error(id, REPLICA_LOST), null)).toList());
  }

  /** The error response to a request that an operator has cancelled. */
  static byte[] cancelled(RequestId id) {
    return JsonRpcErrors.error(
        id,
        JsonRpcErrorCode.CANCELLED,
        "An operator of the gateway has cancelled the request; the outcome is unknown");
  }

  static byte[] error(RequestId id, String text) {
    return JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR, text);
  }

  private static boolean answers(byte[] error, @Nullable RequestId id) {
    try {
      return Envelopes.read(error) instanceof Body.Single(Message.Response response)
          && Objects.equals(response.id(), id);
    } catch (EnvelopeException noJsonRpc) {
      return false;
    }
  }

  private static JsonRpcErrorCode code(UpstreamException failure) {
    return failure instanceof UpstreamException.SessionGone
        ? JsonRpcErrorCode.SESSION_NOT_FOUND
        : JsonRpcErrorCode.SERVER_ERROR;
  }

  /** Says who must mend it: the client, if it sent headers, or the gateway's operator. */
  private static String credentialsText(UpstreamException.Refused refused) {
    return refused.clientHeaders().isEmpty()
        ? "The gateway has no access to the server (status %d); only the gateway's operator can mend it"
            .formatted(refused.status())
        : "The server refused the request with status %d; check your headers %s, and if they are right, tell the gateway's operator"
            .formatted(refused.status(), String.join(", ", refused.clientHeaders()));
  }

  private static String text(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.Unreachable _ ->
          "The server cannot be reached; it has not seen the request";
      case UpstreamException.NoToken _ ->
          "This replica has no valid token of yours for the server, which has not seen the request; try again";
      case UpstreamException.Busy _ -> "There is no room at the server at the moment; try again";
      case UpstreamException.TimedOut late ->
          "The server did not answer in time%s; the outcome of the request is unknown"
              .formatted(late.key().map(key -> " (" + key + ")").orElse(""));
      case UpstreamException.SessionGone gone when gone.inCall() ->
          "The server has ended the session; the outcome of the request is unknown; initialize again";
      case UpstreamException.SessionGone _ -> "The server has ended the session; initialize again";
      case UpstreamException.Refused refused
          when UpstreamException.Refused.isAboutCredentials(refused.status()) ->
          credentialsText(refused);
      case UpstreamException.Refused refused ->
          "The server refused the request with status " + refused.status();
      case UpstreamException.TooLarge tooLarge -> tooLarge.clientMessage();
      case UpstreamException.Broken _ ->
          "The server's answer broke off; the outcome of the request is unknown";
    };
  }
}
