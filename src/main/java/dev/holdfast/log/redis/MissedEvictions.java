package dev.holdfast.log.redis;

import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Performs {@link dev.holdfast.log.ownership.SharedLog#evictReplacedWatchers}. */
final class MissedEvictions {

  private final RedisClient client;
  private final RedisKeys keys;
  private final String replica;
  private final WatcherRegistry watchers;

  MissedEvictions(RedisClient client, RedisKeys keys, String replica, WatcherRegistry watchers) {
    this.client = client;
    this.keys = keys;
    this.replica = replica;
    this.watchers = watchers;
  }

  void evict() {
    List<WatcherRegistry.Registration> all = watchers.recorded();
    List<Request> requests =
        all.stream().map(each -> StreamField.TAIL.get(keys, each.stream())).toList();
    List<@Nullable Response> tails = client.sendMany(requests);
    for (int i = 0; i < all.size(); i++) {
      Response tail = tails.get(i);
      // A complete stream has no record: its watcher reads to the end.
      if (tail != null && !StreamOwner.replicaOf(tail.toString()).equals(replica)) {
        watchers.evict(all.get(i).stream(), all.get(i).number());
      }
    }
  }
}
