package dev.holdfast.cli;

import dev.holdfast.log.StreamIndex;
import dev.holdfast.redis.RedisServerInfo;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Upstream;
import java.util.Map;
import java.util.Optional;

/** What the commands need of the program besides its ports. Whoever puts it together gives it. */
public interface CommandContext {

  /** Asks Redis about itself; empty where the store is the memory of a process. */
  Optional<RedisServerInfo> redis();

  /** Which streams a session has. */
  StreamIndex streams();

  /** The configured upstreams by name, {@link Session#DEFAULT_UPSTREAM} among them. */
  Map<String, Upstream> upstreams();

  /** The most connections of clients that a replica takes. */
  int connections();

  /** The size of the largest message, in bytes. */
  int messageBytes();
}
