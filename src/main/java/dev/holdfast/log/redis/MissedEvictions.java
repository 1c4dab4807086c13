package dev.holdfast.log.redis;

import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Evicts watchers whose streams have their tail on another replica by now, and that have not heard
 * of it since this one was not subscribed. Wake-ups go to the recorded tail only: such a watcher
 * would get none any more.
 */
final class MissedEvictions {

  private static final Logger LOG = System.getLogger(MissedEvictions.class.getName());
  private static final Duration PAUSE = Duration.ofMillis(200);

  /** Who cannot be asked for so long loses the subscription too, and then all begins anew. */
  private static final int ATTEMPTS = 25;

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

  /** Looks for them, on a thread of its own: Redis may have gone again. */
  void look() {
    List<WatcherRegistry.Registration> seats = watchers.recorded();
    if (!seats.isEmpty()) {
      Thread.ofVirtual().name("lost-evictions").start(() -> evict(seats));
    }
  }

  private void evict(List<WatcherRegistry.Registration> seats) {
    int done = 0;
    for (int attempt = 1; attempt <= ATTEMPTS && done < seats.size(); attempt++) {
      try {
        while (done < seats.size()) {
          int next = Math.min(seats.size(), done + RedisClient.BATCH_SIZE);
          evictAmong(seats.subList(done, next));
          done = next;
        }
      } catch (RedisException away) {
        LOG.log(Level.DEBUG, "Not known who was evicted: {0}", away.getMessage());
        pause();
      }
    }
  }

  private void evictAmong(List<WatcherRegistry.Registration> seats) {
    List<@Nullable Response> tails = link.sendAll(seats.stream().map(this::tail).toList());
    for (int i = 0; i < seats.size(); i++) {
      Response tail = tails.get(i);
      // A complete stream has none: its watcher reads to the end.
      if (tail != null && !tail.toString().startsWith(replica + ' ')) {
        watchers.evict(seats.get(i).stream(), seats.get(i).number());
      }
    }
  }

  private Request tail(WatcherRegistry.Registration seat) {
    String session = keys.session(seat.stream().session());
    return Request.cmd(Command.HGET).arg(session).arg("t:" + seat.stream().name());
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
