package dev.holdfast.redis;

import org.jspecify.annotations.Nullable;

/** A Redis command failed, or its outcome is unknown. */
public abstract sealed class RedisException extends RuntimeException {

  private RedisException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /**
   * The command was not executed: there was no connection, or Redis refused it ({@code LOADING},
   * {@code READONLY}, {@code MISCONF}, {@code OOM}, …).
   */
  public static final class Unavailable extends RedisException {

    /** States the reason. */
    public Unavailable(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** The command was sent and no reply arrived. Redis may have executed it. */
  public static final class UnknownOutcome extends RedisException {

    /** States the reason. */
    public UnknownOutcome(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }
}
