package dev.holdfast.log.redis;

import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Evicts watchers whose stream another replica watches by now. Their evictions were lost while this
 * replica was not subscribed. Wake-ups go to the recorded watcher only, so these would get none.
 */
final class MissedEvictions {

  private final RedisClient link;
  private final RedisKeys keys;
  private final String replica;
  private final WatcherRegistry watchers;

  MissedEvictions(RedisClient link, RedisKeys keys, String replica, WatcherRegistry watchers) {
    this.link = link;
    this.keys = keys;
    this.replica = replica;
    this.watchers = watchers;
  }

  /** Compares all watchers with the records in Redis. */
  void evict() {
    List<WatcherRegistry.Registration> all = watchers.recorded();
    List<@Nullable Response> recorded = link.sendMany(all.stream().map(this::recorded).toList());
    for (int i = 0; i < all.size(); i++) {
      Response watcher = recorded.get(i);
      // A complete stream has no record: its watcher reads to the end.
      if (watcher != null && !watcher.toString().startsWith(replica + ' ')) {
        watchers.evict(all.get(i).stream(), all.get(i).number());
      }
    }
  }

  private Request recorded(WatcherRegistry.Registration watcher) {
    String session = keys.session(watcher.stream().session());
    return Request.cmd(Command.HGET).arg(session).arg("t:" + watcher.stream().name());
  }
}
