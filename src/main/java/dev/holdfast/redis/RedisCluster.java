package dev.holdfast.redis;

import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A Redis Cluster: one connection to each primary, and a map of the slots. Every failure of a
 * server has the map read again, so that the commands of a lost server's slots find the replica
 * that was promoted, while those of all others go on.
 *
 * <p>The cluster client of Vert.x is not used: it connects to all servers or to none, waits for
 * ever for the map when the first server is frozen, keeps connections that have ended, and does not
 * follow a redirection of a batch. See ADR 0008.
 */
final class RedisCluster implements RedisRoute {

  private static final int MAX_REDIRECTS = 8;
  private static final Duration WHILE_SLOT_MOVES = Duration.ofMillis(50);

  private final RedisServers servers;
  private final Duration timeout;
  private final RedisListener listener;
  private final Map<RedisAddress, RedisNode> nodes = new ConcurrentHashMap<>();
  private final SlotMaps maps;

  private volatile boolean closed;

  RedisCluster(RedisServers servers, Duration timeout, RedisListener listener) {
    this.servers = servers;
    this.timeout = timeout;
    this.listener = listener;
    this.maps = new SlotMaps(servers.seeds(), timeout, this::ask, this::keepOnly);
  }

  @Override
  public @Nullable Response send(Request request) {
    return send(request, place(maps.get(), request));
  }

  /** The server to ask: that of the keys, or any. */
  private RedisAddress place(SlotMap map, Request request) {
    int slot = SlotMap.slot(request);
    if (slot < 0) {
      return any(map);
    }
    RedisAddress primary = map.primary(slot);
    if (primary == null) {
      maps.doubt();
      throw new RedisUnavailableException("no server has slot " + slot, null);
    }
    return primary;
  }

  /** Rather one that answers, as far as that is known. */
  private RedisAddress any(SlotMap map) {
    List<RedisAddress> primaries = List.copyOf(map.primaries());
    List<RedisAddress> connected =
        primaries.stream().filter(primary -> node(primary).isConnected()).toList();
    List<RedisAddress> choice = connected.isEmpty() ? primaries : connected;
    return choice.get(ThreadLocalRandom.current().nextInt(choice.size()));
  }

  private @Nullable Response send(Request request, RedisAddress first) {
    RedisAddress to = first;
    boolean asking = false;
    for (int left = MAX_REDIRECTS; ; left--) {
      try {
        return asking
            ? node(to).sendAll(List.of(Request.cmd(Command.ASKING), request)).get(1)
            : node(to).send(request);
      } catch (RedisException failure) {
        Redirect redirect = left == 0 ? null : Redirect.in(failure, to);
        switch (redirect) {
          case Redirect.Moved(RedisAddress there) -> {
            maps.doubt();
            to = there;
            asking = false;
          }
          case Redirect.Ask(RedisAddress there) -> {
            to = there;
            asking = true;
          }
          case Redirect.Later() -> pause();
          case null -> {
            doubt(failure);
            throw failure;
          }
        }
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(WHILE_SLOT_MOVES);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new RedisUnavailableException("interrupted while a slot moves", interrupted);
    }
  }

  /** A server that cannot be reached may have a successor by now. */
  private void doubt(RedisException failure) {
    Throwable cause = failure.getCause();
    if (cause == null || !Failures.isReply(cause) || Failures.isClusterDown(cause)) {
      maps.doubt();
    }
  }

  @Override
  public List<@Nullable Response> sendAll(List<Request> requests) {
    SlotMap map = maps.get();
    Map<RedisAddress, List<Integer>> places = new LinkedHashMap<>();
    for (int i = 0; i < requests.size(); i++) {
      places.computeIfAbsent(place(map, requests.get(i)), to -> new ArrayList<>()).add(i);
    }
    @Nullable Response[] replies = new Response[requests.size()];
    places.forEach((to, indexes) -> {
      List<@Nullable Response> some = batch(indexes.stream().map(requests::get).toList(), to);
      for (int i = 0; i < some.size(); i++) {
        replies[indexes.get(i)] = some.get(i);
      }
    });
    return Arrays.asList(replies);
  }

  private List<@Nullable Response> batch(List<Request> requests, RedisAddress to) {
    try {
      return node(to).sendAll(requests);
    } catch (RedisException failure) {
      if (Redirect.in(failure, to) == null) {
        doubt(failure);
        throw failure;
      }
      // Each for itself: they need not all go to the same server.
      List<@Nullable Response> replies = new ArrayList<>();
      requests.forEach(request -> replies.add(send(request, to)));
      return replies;
    }
  }

  @Override
  public CompletionStage<@Nullable Response> sendLater(Request request) {
    SlotMap map = maps.known();
    if (map == null) {
      maps.doubt();
      return CompletableFuture.failedFuture(
          new RedisUnavailableException("the cluster is not known yet", null));
    }
    RedisAddress to;
    try {
      to = place(map, request);
    } catch (RedisUnavailableException nobody) {
      return CompletableFuture.failedFuture(nobody);
    }
    CompletableFuture<@Nullable Response> result = new CompletableFuture<>();
    node(to)
        .sendLater(request)
        .whenComplete((reply, failure) -> {
          if (failure == null) {
            result.complete(reply);
          } else if (Redirect.in(failure, to) == null) {
            if (failure instanceof RedisException typed) {
              doubt(typed);
            }
            result.completeExceptionally(failure);
          } else {
            // Aside, for this thread must not be blocked.
            Thread.ofVirtual().name("redis-redirect").start(() -> follow(request, to, result));
          }
        });
    return result;
  }

  private void follow(
      Request request, RedisAddress to, CompletableFuture<@Nullable Response> result) {
    try {
      result.complete(send(request, to));
    } catch (RuntimeException failure) {
      result.completeExceptionally(failure);
    }
  }

  /** Asks all, since each has streams that nobody else has. */
  @Override
  public void check(String key) {
    SlotMap map = maps.get();
    if (!map.isWhole()) {
      maps.doubt();
      throw new RedisUnavailableException("some slots have no server", null);
    }
    map.tags().forEach((primary, tag) -> send(RedisRoute.idleWrite(key + tag), primary));
  }

  @Override
  public Redis newClient() {
    SlotMap map = maps.known();
    List<RedisAddress> choice = map == null ? servers.seeds() : List.of(any(map));
    return servers.at(choice.get(ThreadLocalRandom.current().nextInt(choice.size())));
  }

  @Override
  public void close() {
    closed = true;
    keepOnly(List.of());
  }

  private @Nullable Response ask(RedisAddress server) {
    return node(server).send(Request.cmd(Command.CLUSTER).arg("SLOTS"));
  }

  private RedisNode node(RedisAddress address) {
    RedisNode node =
        nodes.computeIfAbsent(
            address, to -> new RedisNode(() -> servers.at(to), false, timeout, listener));
    if (closed) {
      // It may have come too late to be closed with the others.
      node.close();
    }
    return node;
  }

  /** Closes the connections to all others. */
  private void keepOnly(Iterable<RedisAddress> primaries) {
    List<RedisAddress> others = new ArrayList<>(nodes.keySet());
    primaries.forEach(others::remove);
    others.forEach(other -> {
      RedisNode node = nodes.remove(other);
      if (node != null) {
        node.close();
      }
    });
  }
}
