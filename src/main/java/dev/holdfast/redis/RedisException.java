package dev.holdfast.redis;

import org.jspecify.annotations.Nullable;

/** A Redis command failed, or its outcome is unknown. */
public abstract sealed class RedisException extends RuntimeException
    permits RedisUnavailableException, RedisUnknownOutcomeException {
  RedisException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
