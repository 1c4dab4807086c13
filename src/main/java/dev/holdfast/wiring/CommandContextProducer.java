package dev.holdfast.wiring;

import dev.holdfast.cli.CommandContext;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.log.redis.RedisStreamIndex;
import dev.holdfast.redis.RedisServerInfo;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.Optional;

/** Produces the parts of the program that commands inspect. */
@Singleton
final class CommandContextProducer {

  @Produces
  @Singleton
  CommandContext context(
      GatewayConfig config,
      LimitsConfig limits,
      ConfiguredUpstreams upstreams,
      Instance<RedisConnections> redis) {
    Optional<CommandContext.SharedStore> store =
        config.store() == GatewayConfig.Store.REDIS
            ? Optional.of(sharedStore(redis.get()))
            : Optional.empty();
    return new CommandContext(
        store, upstreams.byName(), limits.connections(), limits.messageBytes().value());
  }

  private static CommandContext.SharedStore sharedStore(RedisConnections redis) {
    return new CommandContext.SharedStore(
        new RedisServerInfo(redis.client(), redis.keys()),
        new RedisStreamIndex(redis.client(), redis.keys()));
  }
}
