package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;
import static dev.holdfast.redis.RedisClient.number;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Looks for what messages between replicas should have told, in case one was lost: streams that
 * have changed, and watchers that another replica has replaced. One look serves all watchers of
 * this replica, so a watcher that waits needs no timer of its own.
 */
final class MissedMessages {

  private final RedisClient client;
  private final RedisKeys keys;
  private final String replica;
  private final WatcherRegistry watchers;

  private final AutoLock lock = new AutoLock();

  /** Owner and last position of each watched stream in the last look. */
  private final Map<StreamRef, String> seen = new HashMap<>();

  MissedMessages(RedisClient client, RedisKeys keys, String replica, WatcherRegistry watchers) {
    this.client = client;
    this.keys = keys;
    this.replica = replica;
    this.watchers = watchers;
  }

  /** Returns true if messages may be lost, or writes, while this replica is connected. */
  boolean mayHaveSome() {
    return client.mayLoseMessages();
  }

  /**
   * Wakes the watchers of streams that are new or have changed since the last look, and evicts
   * those that were replaced. A watcher whose stream cannot be looked at is woken, too.
   *
   * @param which the sessions to look at
   * @throws LogException.StoreUnavailable when the store does not answer in time
   */
  void look(Predicate<LogKey> which) {
    try (var _ = lock.hold()) {
      Map<StreamRef, WatcherRegistry.Registration> recorded = new HashMap<>();
      watchers.recorded().forEach(each -> recorded.put(each.stream(), each));
      Set<StreamRef> all = new HashSet<>(watchers.shared());
      all.addAll(recorded.keySet());
      List<StreamRef> streams = all.stream().filter(each -> which.test(each.key())).toList();
      List<@Nullable Response> found = read(streams);
      seen.keySet().retainAll(all);
      for (int i = 0; i < streams.size(); i++) {
        StreamRef stream = streams.get(i);
        Response fields = Objects.requireNonNull(found.get(i));
        String state = fields.get(0) + " " + fields.get(1);
        String before = seen.put(stream, state);
        Response tail = fields.get(2);
        // A complete stream may have no record: its watcher reads to the end.
        WatcherRegistry.Registration own = recorded.get(stream);
        if (own != null
            && tail != null
            && !StreamOwner.replicaOf(tail.toString()).equals(replica)) {
          watchers.evict(stream, own.number());
        } else if (!state.equals(before)) {
          watchers.wake(stream);
        }
      }
    }
  }

  private List<@Nullable Response> read(List<StreamRef> streams) {
    try {
      return available(
          "look at watched streams",
          () -> client.sendMany(streams.stream().map(this::fields).toList()));
    } catch (LogException.StoreUnavailable away) {
      streams.forEach(watchers::wake);
      throw away;
    }
  }

  /**
   * Finds the sessions that have ended.
   *
   * @throws LogException.StoreUnavailable when the store does not answer in time
   */
  List<LogKey> findEnded(List<LogKey> sessions) {
    List<@Nullable Response> found =
        available(
            "look for ended sessions",
            () ->
                client.sendMany(
                    sessions.stream()
                        .map(each -> Request.cmd(Command.EXISTS, keys.session(each.value())))
                        .toList()));
    return IntStream.range(0, sessions.size())
        .filter(i -> number(found.get(i)) == 0)
        .mapToObj(sessions::get)
        .toList();
  }

  private Request fields(StreamRef stream) {
    return Request.cmd(
        Command.HMGET,
        keys.session(stream.key().value()),
        StreamField.OWNER.of(stream),
        StreamField.LAST.of(stream),
        StreamField.TAIL.of(stream));
  }
}
