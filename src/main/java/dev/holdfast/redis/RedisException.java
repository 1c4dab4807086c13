package dev.holdfast.redis;

import org.jspecify.annotations.Nullable;

/** Redis did not do, or did not say that it did, what it was asked. */
public abstract sealed class RedisException extends RuntimeException
    permits RedisUnavailableException, RedisUnknownOutcomeException {
  RedisException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
