package dev.holdfast.console.fleet;

import java.util.List;

/** Reports of the replicas to each other. Thread-safe. */
public interface Reports {

  /** For a gateway of one replica. */
  Reports NONE =
      new Reports() {
        @Override
        public List<byte[]> latest() {
          return List.of();
        }

        @Override
        public void forget(String replica) {}
      };

  /**
   * Returns the latest reports of the replicas, as {@link Report#write} made them, and lets the
   * others report for some more seconds. One of this replica may be among them.
   *
   * @throws dev.holdfast.redis.RedisException when Redis does not answer
   */
  List<byte[]> latest();

  /** Removes the report of a replica that is gone. Throws as {@link #latest} does. */
  void forget(String replica);
}
