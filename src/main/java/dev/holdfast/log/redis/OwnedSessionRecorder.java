package dev.holdfast.log.redis;

/**
 * Keeps on record in which sessions this replica owns streams, so that others find them should it
 * be lost.
 */
@FunctionalInterface
public interface OwnedSessionRecorder {

  /**
   * Is told before this replica becomes the owner of a stream; returns when the session is on
   * record.
   *
   * @param session the session's id
   * @throws dev.holdfast.redis.RedisException when it could not be recorded; the stream is then not
   *     opened
   */
  void owning(String session);
}
