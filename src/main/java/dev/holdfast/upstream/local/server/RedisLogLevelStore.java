package dev.holdfast.upstream.local.server;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.LogLevel;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the log levels of all replicas in Redis, one key per level.
 *
 * @param timeToLive time after which Redis removes a level that no call reads
 */
public record RedisLogLevelStore(RedisClient client, RedisKeys keys, Duration timeToLive)
    implements LogLevelStore {

  @Override
  public void put(String session, LogLevel level) {
    send(withTimeToLive(Request.cmd(Command.SET).arg(keys.logLevel(session)).arg(level.wire())));
  }

  @Override
  public Optional<LogLevel> find(String session) {
    Response level = send(withTimeToLive(Request.cmd(Command.GETEX).arg(keys.logLevel(session))));
    return level == null ? Optional.empty() : LogLevel.parse(level.toString());
  }

  private Request withTimeToLive(Request request) {
    return request.arg("PX").arg(timeToLive.toMillis());
  }

  /** Does not wait for Redis: a level that is not removed expires. */
  @Override
  public void remove(String session) {
    var _ = client.sendLater(Request.cmd(Command.DEL).arg(keys.logLevel(session)));
  }

  private @Nullable Response send(Request request) {
    try {
      return client.send(request);
    } catch (RedisException unavailable) {
      throw new UpstreamException.Broken("Redis does not answer for log levels", unavailable);
    }
  }
}
