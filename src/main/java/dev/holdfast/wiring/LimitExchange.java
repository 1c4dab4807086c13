package dev.holdfast.wiring;

import dev.holdfast.cli.ProcessMode;
import dev.holdfast.cluster.Membership;
import dev.holdfast.http.limit.ClientLimit;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.http.limit.SharedLimits;
import dev.holdfast.http.limit.redis.RedisUseExchange;
import io.quarkus.runtime.Startup;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Lets the limits of clients count for all replicas that share a Redis. */
@Singleton
@Startup
final class LimitExchange {

  private final Optional<SharedLimits> shared;

  LimitExchange(
      ProcessMode mode,
      RequestLimit requests,
      ConnectionLimit connections,
      Optional<RedisConnections> redis,
      Optional<Membership> membership) {
    List<ClientLimit> limits = new ArrayList<>(requests.perClient());
    limits.add(connections.perClient());
    shared =
        redis
            .filter(_ -> mode.serves())
            .map(opened ->
                new SharedLimits(
                    limits,
                    new RedisUseExchange(opened.client(), opened.keys(), opened.replica().value()),
                    () -> membership.map(Membership::alive).orElse(1)));
    shared.ifPresent(SharedLimits::start);
  }

  @PreDestroy
  void close() {
    shared.ifPresent(SharedLimits::close);
  }
}
