package dev.holdfast.redis;

import org.jspecify.annotations.Nullable;

/**
 * The command was not executed: there was no connection, or Redis refused it ({@code LOADING},
 * {@code READONLY}, {@code MISCONF}, {@code OOM}, …).
 */
public final class RedisUnavailableException extends RedisException {
  /** States the reason. */
  public RedisUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
