package dev.holdfast.upstream.local.redis;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.LogLevels;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Levels of sessions of all replicas, a key for each that has one. */
public final class RedisLogLevels implements LogLevels {

  private final RedisClient link;
  private final RedisKeys keys;
  private final Duration timeToLive;

  /**
   * Levels behind a link that others use too.
   *
   * @param timeToLive how long a level is kept that no call goes by and nobody removes
   */
  public RedisLogLevels(RedisClient link, RedisKeys keys, Duration timeToLive) {
    this.link = link;
    this.keys = keys;
    this.timeToLive = timeToLive;
  }

  @Override
  public void put(String session, LogLevel level) {
    send(lasting(Request.cmd(Command.SET).arg(keys.logLevel(session)).arg(level.wire())));
  }

  @Override
  public Optional<LogLevel> find(String session) {
    Response level = send(lasting(Request.cmd(Command.GETEX).arg(keys.logLevel(session))));
    return level == null ? Optional.empty() : LogLevel.parse(level.toString());
  }

  private Request lasting(Request request) {
    return request.arg("PX").arg(timeToLive.toMillis());
  }

  /** {@inheritDoc} Not waited for: what stays behind expires. */
  @Override
  public void remove(String session) {
    var _ = link.sendLater(Request.cmd(Command.DEL).arg(keys.logLevel(session)));
  }

  private @Nullable Response send(Request request) {
    try {
      return link.send(request);
    } catch (RedisException away) {
      throw new UpstreamException.Broken("Redis does not tell of log levels", away);
    }
  }
}
