package dev.holdfast.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The clients of the servers of one cluster, made at first use. Thread-safe. */
final class ClusterNodes {

  private final VertxRedisFactory servers;
  private final Duration timeout;
  private final RedisCommandListener listener;
  private final Map<ServerAddress, ServerClient> clients = new ConcurrentHashMap<>();

  private volatile boolean closed;

  ClusterNodes(VertxRedisFactory servers, Duration timeout, RedisCommandListener listener) {
    this.servers = servers;
    this.timeout = timeout;
    this.listener = listener;
  }

  ServerClient client(ServerAddress address) {
    ServerClient client =
        clients.computeIfAbsent(
            address,
            to -> new ServerClient(() -> servers.newClientFor(to), false, timeout, listener));
    if (closed) {
      // close() may have missed a client that was made meanwhile.
      client.close();
    }
    return client;
  }

  void closeAllBut(Collection<ServerAddress> addresses) {
    List<ServerAddress> others = new ArrayList<>(clients.keySet());
    others.removeAll(addresses);
    for (ServerAddress other : others) {
      ServerClient client = clients.remove(other);
      if (client != null) {
        client.close();
      }
    }
  }

  void close() {
    closed = true;
    closeAllBut(List.of());
  }
}
