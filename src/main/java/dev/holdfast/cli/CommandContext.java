package dev.holdfast.cli;

import dev.holdfast.call.Endpoint;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.config.OwnCertificate;
import dev.holdfast.log.Inbox;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.merge.MergedUpstream;
import dev.holdfast.redis.RedisServerInfo;
import dev.holdfast.upstream.Upstream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The configured parts of the program that commands inspect.
 *
 * @param sharedStore the store that this process shares with gateways; empty for the memory store
 * @param upstreams upstreams by name, including {@link Endpoint#DEFAULT_UPSTREAM}
 * @param merged endpoints for several servers, by name
 * @param certificates what this process would show to clients and servers
 * @param maxConnections limit on client connections of one replica
 */
public record CommandContext(
    Optional<SharedStore> sharedStore,
    Map<String, Upstream> upstreams,
    Map<String, MergedUpstream> merged,
    Supplier<List<OwnCertificate>> certificates,
    KnownClients clients,
    int maxConnections,
    int maxMessageBytes) {

  /**
   * A store in Redis.
   *
   * @param survey reports the state of the Redis servers
   * @param streams lists the streams of a session
   * @param inbox takes messages for replicas
   * @param maxBytes limit on the size of the events of all sessions
   */
  public record SharedStore(
      RedisServerInfo survey, StreamIndex streams, Inbox inbox, long maxBytes) {}
}
