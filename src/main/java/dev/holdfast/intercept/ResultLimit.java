package dev.holdfast.intercept;

import dev.holdfast.protocol.JsonRpcErrorCode;
import java.util.Map;

/**
 * Refuses results above a size.
 *
 * @param maxBytes the size of the whole response in bytes, without white space around it
 */
public record ResultLimit(long maxBytes) implements Interceptor {

  @Override
  public Verdict judge(InterceptedMessage message) {
    int bytes = message.message().bytes().length;
    return message.isResult() && bytes > maxBytes
        ? new Verdict.Refuse(
            JsonRpcErrorCode.SERVER_ERROR.code(),
            "The result is larger than this gateway allows",
            Map.of("bytes", bytes, "limit", maxBytes))
        : Verdict.PASS;
  }
}
