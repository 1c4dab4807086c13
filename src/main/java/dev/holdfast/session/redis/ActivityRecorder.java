package dev.holdfast.session.redis;

import static java.util.Objects.requireNonNull;

import dev.holdfast.call.SessionId;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import dev.holdfast.session.SessionActivity;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Records the activity of many sessions. Thread-safe. */
final class ActivityRecorder {

  private final RedisClient redis;
  private final RedisKeys keys;
  private final Duration timeToLive;
  private final RedisScript script;

  ActivityRecorder(RedisClient redis, RedisKeys keys, Duration timeToLive) {
    this.redis = redis;
    this.keys = keys;
    this.timeToLive = timeToLive;
    this.script = SessionFields.script(redis, "record-activity.lua");
  }

  /**
   * Records activity in batches, without a wait for each session.
   *
   * @param timeout idle timeout that begins again; zero for none
   * @param extended gets the sessions whose idle timeout was started again, with its end and their
   *     openers
   * @return the sessions of which nothing was recorded, because their server is away
   * @throws RedisException when Redis does not answer
   */
  Set<SessionId> record(
      Map<SessionId, SessionActivity> since,
      Duration timeout,
      BiConsumer<SessionId, Response> extended) {
    Set<SessionId> missed = new HashSet<>();
    List<SessionId> ids = List.copyOf(since.keySet());
    for (int from = 0; from < ids.size(); from += RedisClient.BATCH_SIZE) {
      List<SessionId> batch =
          ids.subList(from, Math.min(ids.size(), from + RedisClient.BATCH_SIZE));
      List<Supplier<@Nullable Response>> replies = new ArrayList<>();
      for (SessionId id : batch) {
        List<String> key = List.of(keys.session(id.value()));
        Object[] activity = activity(timeout, requireNonNull(since.get(id)));
        if (replies.isEmpty()) {
          // The first one waits for a connection, if there is none.
          Response first = unlessAway(id, () -> script.run(key, activity), missed);
          replies.add(() -> first);
        } else {
          var later = script.runLater(key, activity);
          replies.add(() -> joined(later));
        }
      }
      for (int i = 0; i < batch.size(); i++) {
        Response end = unlessAway(batch.get(i), replies.get(i), missed);
        if (end != null) {
          extended.accept(batch.get(i), end);
        }
      }
    }
    return missed;
  }

  private @Nullable Response unlessAway(
      SessionId id, Supplier<@Nullable Response> reply, Set<SessionId> missed) {
    try {
      return reply.get();
    } catch (RedisException failure) {
      if (!redis.isAway(keys.session(id.value()))) {
        throw failure;
      }
      missed.add(id);
      return null;
    }
  }

  private Object[] activity(Duration timeout, SessionActivity own) {
    return new Object[] {timeout.toMillis(), timeToLive.toMillis(), SessionFields.values(own)};
  }

  private static @Nullable Response joined(CompletionStage<@Nullable Response> reply) {
    try {
      return reply.toCompletableFuture().join();
    } catch (CompletionException failure) {
      throw failure.getCause() instanceof RedisException known ? known : failure;
    }
  }
}
