package dev.holdfast.cli;

import dev.holdfast.clients.KnownClients;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.redis.RedisServerInfo;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Upstream;
import java.util.Map;
import java.util.Optional;

/**
 * The configured parts of the program that commands inspect.
 *
 * @param sharedStore the store that this process shares with gateways; empty for the memory store
 * @param upstreams upstreams by name, including {@link Session#DEFAULT_UPSTREAM}
 * @param maxConnections limit on client connections of one replica
 */
public record CommandContext(
    Optional<SharedStore> sharedStore,
    Map<String, Upstream> upstreams,
    KnownClients clients,
    int maxConnections,
    int maxMessageBytes) {

  /**
   * A store in Redis.
   *
   * @param survey reports the state of the Redis servers
   * @param streams lists the streams of a session
   * @param maxBytes limit on the size of the events of all sessions
   */
  public record SharedStore(RedisServerInfo survey, StreamIndex streams, long maxBytes) {}
}
