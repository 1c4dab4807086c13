package dev.holdfast.wiring;

import dev.holdfast.cli.CommandContext;
import dev.holdfast.http.LimitsConfig;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.redis.RedisStreamIndex;
import dev.holdfast.redis.RedisServerInfo;
import dev.holdfast.upstream.Upstream;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.Optional;

/** What commands look at, as configured. */
@Singleton
final class ConfiguredCommandContext implements CommandContext {

  private final GatewayConfig config;
  private final LimitsConfig limits;
  private final ConfiguredUpstreams upstreams;
  private final Instance<RedisConnections> redis;

  ConfiguredCommandContext(
      GatewayConfig config,
      LimitsConfig limits,
      ConfiguredUpstreams upstreams,
      Instance<RedisConnections> redis) {
    this.config = config;
    this.limits = limits;
    this.upstreams = upstreams;
    this.redis = redis;
  }

  @Override
  public Optional<RedisServerInfo> redis() {
    return isRedis()
        ? Optional.of(new RedisServerInfo(redis.get().link(), redis.get().keys()))
        : Optional.empty();
  }

  @Override
  public StreamIndex streams() {
    return isRedis()
        ? new RedisStreamIndex(redis.get().link(), redis.get().keys())
        : StreamIndex.NONE;
  }

  private boolean isRedis() {
    return config.store() == GatewayConfig.Store.REDIS;
  }

  @Override
  public Map<String, Upstream> upstreams() {
    return upstreams.byName();
  }

  @Override
  public int connections() {
    return limits.connections();
  }

  @Override
  public int messageBytes() {
    return limits.messageBytes().value();
  }
}
