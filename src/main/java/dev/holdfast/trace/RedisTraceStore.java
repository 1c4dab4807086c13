package dev.holdfast.trace;

import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.opentelemetry.api.trace.SpanContext;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the spans of streams in Redis, each under a key of its own that expires. Replicas that do
 * not know these keys are not affected by them.
 */
public final class RedisTraceStore implements TraceStore {

  private final RedisClient client;
  private final RedisKeys keys;
  private final long ttlMillis;

  /** Creates the store. */
  public RedisTraceStore(RedisClient client, RedisKeys keys, Duration ttl) {
    this.client = client;
    this.keys = keys;
    this.ttlMillis = ttl.toMillis();
  }

  @Override
  public void put(StreamRef stream, SpanContext span) {
    Request set =
        Request.cmd(Command.SET)
            .arg(key(stream))
            .arg(TraceContext.format(span))
            .arg("PX")
            .arg(ttlMillis);
    CompletionStage<@Nullable Response> _ = client.sendLater(set);
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
}
