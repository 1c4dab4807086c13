package dev.holdfast.redis;

/**
 * Observes every exchange with Redis, for metrics. Methods run on the connection's thread and must
 * return at once.
 */
public interface RedisCommandListener {

  /** Ignores everything. */
  RedisCommandListener NONE = new RedisCommandListener() {};

  /**
   * Redis replied to everything that was sent in one write, possibly with errors.
   *
   * @param nanos from the write to the last reply; not a {@code Duration}, to save the allocation
   *     per command
   */
  default void answered(long nanos) {}

  /** The connection ended before the reply. */
  default void unanswered() {}
}
