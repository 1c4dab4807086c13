package dev.holdfast.log.redis;

import dev.holdfast.log.Position;
import dev.holdfast.log.ReaderWindow;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Readers on other replicas, as Redis knows them, for writers that wait for one. Thread-safe.
 *
 * @param replica this replica
 * @param replicas the replicas that do not count as lost; throws {@link RedisException}
 */
record RemoteReaders(
    RedisClient client,
    RedisKeys keys,
    StreamScripts scripts,
    String replica,
    Supplier<Set<String>> replicas) {

  private static final Logger LOG = Logger.getLogger(RemoteReaders.class);

  /**
   * Looks up the reader of a stream that has none on this replica. The record of a reader whose
   * replica is lost goes.
   */
  void find(StreamRef stream, ReaderWindow window) {
    try {
      List<@Nullable Response> found =
          client.sendMany(
              List.of(StreamField.TAIL.get(keys, stream), StreamField.DELIVERED.get(keys, stream)));
      Response tail = found.get(0);
      String at = tail == null ? replica : StreamOwner.replicaOf(tail.toString());
      if (!at.equals(replica) && replicas.get().contains(at)) {
        window.connectRemote(Position.parse(String.valueOf(found.get(1))).orElse(Position.START));
        return;
      }
      if (tail != null && !at.equals(replica)) {
        var _ = scripts.removeTail(stream, tail.toString());
      }
      window.disconnectAll();
    } catch (RedisException away) {
      LOG.debugf("no reader looked up stream=%s: %s", stream, away.getMessage());
    }
  }
}
