package dev.holdfast.redis;

import org.jspecify.annotations.Nullable;

/** The command was on its way and no reply came: it may or may not have been executed. */
public final class RedisUnknownOutcomeException extends RedisException {
  /** Says why. */
  public RedisUnknownOutcomeException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
