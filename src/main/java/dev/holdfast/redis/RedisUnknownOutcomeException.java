package dev.holdfast.redis;

import org.jspecify.annotations.Nullable;

/** The command was sent and no reply arrived. Redis may have executed it. */
public final class RedisUnknownOutcomeException extends RedisException {
  /** States the reason. */
  public RedisUnknownOutcomeException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
