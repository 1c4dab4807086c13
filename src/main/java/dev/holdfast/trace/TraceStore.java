package dev.holdfast.trace;

import dev.holdfast.lock.LruMap;
import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.opentelemetry.api.trace.SpanContext;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Keeps, for each stream, the span of the request that opened it, for operations on the stream that
 * come later or on other replicas. An entry may get lost; a trace then has a link less.
 */
public interface TraceStore {

  /** Streams of a store in memory. */
  int STREAMS = 10_000;

  /** Creates a store of the newest streams of a single replica. */
  static TraceStore inMemory() {
    Map<StreamRef, SpanContext> spans = LruMap.create(STREAMS);
    return new TraceStore() {
      @Override
      public void put(StreamRef stream, SpanContext span) {
        spans.put(stream, span);
      }

      @Override
      public CompletionStage<SpanContext> find(StreamRef stream) {
        return CompletableFuture.completedFuture(
            spans.getOrDefault(stream, SpanContext.getInvalid()));
      }
    };
  }

  /**
   * Creates a store in Redis, with a key of its own for each stream, which expires. Replicas that
   * do not know these keys are not affected by them.
   */
  static TraceStore inRedis(RedisClient client, RedisKeys keys, Duration ttl) {
    return new TraceStore() {
      @Override
      public void put(StreamRef stream, SpanContext span) {
        var _ =
            client.sendLater(
                Request.cmd(Command.SET)
                    .arg(key(stream))
                    .arg(TraceContext.format(span))
                    .arg("PX")
                    .arg(ttl.toMillis()));
      }

      @Override
      public CompletionStage<SpanContext> find(StreamRef stream) {
        return client
            .sendLater(Request.cmd(Command.GET).arg(key(stream)))
            .handle((found, failure) ->
                found == null ? SpanContext.getInvalid() : TraceContext.parse(found.toString()));
      }

      private String key(StreamRef stream) {
        return keys.trace(stream.key().value(), stream.name());
      }
    };
  }

  /** Keeps the span of a stream. Does not wait for the store. */
  void put(StreamRef stream, SpanContext span);

  /**
   * Finds the span of a stream.
   *
   * @return completes with an invalid span when there is none; does not fail. Completes on a thread
   *     that must not be blocked
   */
  CompletionStage<SpanContext> find(StreamRef stream);
}
