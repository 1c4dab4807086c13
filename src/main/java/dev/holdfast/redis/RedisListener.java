package dev.holdfast.redis;

/**
 * Is told of every exchange with Redis, to count it. Called on the connection's thread, so it
 * returns at once.
 */
public interface RedisListener {

  /** Counts nothing. */
  RedisListener NONE =
      new RedisListener() {
        @Override
        public void answered(long nanos) {
          // Nobody wants to know.
        }

        @Override
        public void unanswered() {
          // Nobody wants to know.
        }
      };

  /**
   * Redis answered what was sent in one write, be it with an error.
   *
   * @param nanos from the write to the last reply; not a {@code Duration}, since it is called for
   *     every command
   */
  void answered(long nanos);

  /** The connection ended before the reply. */
  void unanswered();
}
