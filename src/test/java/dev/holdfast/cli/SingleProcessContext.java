package dev.holdfast.cli;

import dev.holdfast.log.StreamIndex;
import dev.holdfast.redis.RedisServerInfo;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Upstream;
import java.util.Map;
import java.util.Optional;

/** What there is where everything is in one process. */
record SingleProcessContext(Upstream upstream, int connections) implements CommandContext {

  @Override
  public Optional<RedisServerInfo> redis() {
    return Optional.empty();
  }

  @Override
  public StreamIndex streams() {
    return StreamIndex.NONE;
  }

  @Override
  public Map<String, Upstream> upstreams() {
    return Map.of(Session.DEFAULT_UPSTREAM, upstream);
  }

  @Override
  public int messageBytes() {
    return 1000;
  }
}
