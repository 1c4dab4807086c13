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
      // The first one waits for a connection, if there is none.
      SessionId first = batch.getFirst();
      Object[] own = activity(timeout, since, first);
      take(first, () -> script.run(key(first), own), extended, missed);
      List<CompletionStage<@Nullable Response>> others =
          batch.stream()
              .skip(1)
              .map(id -> script.runLater(key(id), activity(timeout, since, id)))
              .toList();
      for (int i = 0; i < others.size(); i++) {
        CompletionStage<@Nullable Response> reply = others.get(i);
        take(batch.get(i + 1), () -> joined(reply), extended, missed);
      }
    }
    return missed;
  }

  private void take(
      SessionId id,
      Supplier<@Nullable Response> reply,
      BiConsumer<SessionId, Response> extended,
      Set<SessionId> missed) {
    boolean taken =
        redis.unlessAway(
            keys.session(id.value()),
            () -> {
              Response end = reply.get();
              if (end != null) {
                extended.accept(id, end);
              }
              return true;
            },
            false);
    if (!taken) {
      missed.add(id);
    }
  }

  private List<String> key(SessionId id) {
    return List.of(keys.session(id.value()));
  }

  private Object[] activity(Duration timeout, Map<SessionId, SessionActivity> since, SessionId id) {
    SessionActivity own = requireNonNull(since.get(id));
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
