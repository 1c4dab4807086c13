package dev.holdfast.http;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.ProtocolVersion;
import java.util.List;

/** What a body may hold, by the revision of its session. */
final class BodyRules {

  private BodyRules() {}

  /**
   * Checks a body that is not an {@code initialize} on its own.
   *
   * @throws Rejection with 400 for a batch where the revision has none, one that holds an {@code
   *     initialize} (2025-03-26, Lifecycle), or one that mixes responses with what is none
   *     (2025-03-26, Transports)
   */
  static void check(ProtocolVersion version, Body body) {
    if (!(body instanceof Body.Batch(List<Message> messages, byte[] _))) {
      return;
    }
    if (!version.hasBatches()) {
      throw invalid("Batches are not part of protocol version " + version.wire());
    }
    long responses = messages.stream().filter(Message.Response.class::isInstance).count();
    if (responses != 0 && responses != messages.size()) {
      throw invalid("A batch holds either responses or requests and notifications");
    }
    if (messages.stream().anyMatch(BodyRules::isInitialize)) {
      throw invalid("initialize cannot be part of a batch");
    }
  }

  /** Whether a body holds a request. */
  static boolean asks(Body body) {
    return switch (body) {
      case Body.Single single -> single.message() instanceof Message.Request;
      case Body.Batch batch ->
          batch.messages().stream().anyMatch(Message.Request.class::isInstance);
    };
  }

  private static boolean isInitialize(Message message) {
    return message instanceof Message.Request request
        && request.method().equals(Methods.INITIALIZE);
  }

  private static Rejection invalid(String message) {
    return new Rejection(400, JsonRpcErrorCode.INVALID_REQUEST, message);
  }
}
