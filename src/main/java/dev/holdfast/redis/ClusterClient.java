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
import org.jspecify.annotations.Nullable;

/**
 * One pipelined connection to each primary of a Redis Cluster. The {@link ClusterNodes} tell which
 * primary has a key. After every failure of a server, the client reads the slot map again. Commands
 * for its slots then go to the promoted replica. Commands for other slots are not affected.
 *
 * <p>This class replaces the cluster client of Vert.x, which connects to all servers or to none and
 * keeps connections that have ended. That client also waits for ever for a frozen server, and does
 * not follow the redirects of a batch. See ADR 0008.
 */
final class ClusterClient implements RedisClient {

  private static final int MAX_REDIRECTS = 8;
  private static final Duration TRY_AGAIN_DELAY = Duration.ofMillis(50);

  private final ClusterNodes nodes;

  /**
   * @param nodes closed with this client
   */
  ClusterClient(ClusterNodes nodes) {
    this.nodes = nodes;
  }

  @Override
  public @Nullable Response send(Request request) {
    return send(request, route(nodes.slotMap(), request));
  }

  /** The primary that has the command's keys; for a command without keys, any primary. */
  private ServerAddress route(SlotMap map, Request request) {
    int slot = SlotMap.slot(request);
    if (slot < 0) {
      return nodes.anyPrimary(map);
    }
    ServerAddress primary = map.primary(slot);
    if (primary == null) {
      nodes.refreshSlotMapLater();
      throw new RedisException.Unavailable("no server has slot " + slot, null);
    }
    return primary;
  }

  private @Nullable Response send(Request request, ServerAddress first) {
    ServerAddress to = first;
    boolean asking = false;
    for (int left = MAX_REDIRECTS; ; left--) {
      try {
        return asking
            ? nodes.client(to).sendAll(List.of(Request.cmd(Command.ASKING), request)).get(1)
            : nodes.client(to).send(request);
      } catch (RedisException failure) {
        ClusterRedirect redirect = left == 0 ? null : ClusterRedirect.in(failure, to);
        switch (redirect) {
          case ClusterRedirect.Moved(ServerAddress there) -> {
            nodes.refreshSlotMapLater();
            to = there;
            asking = false;
          }
          case ClusterRedirect.Ask(ServerAddress there) -> {
            to = there;
            asking = true;
          }
          case ClusterRedirect.TryAgain() -> pause();
          case null -> {
            refreshAfter(failure);
            throw failure;
          }
        }
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(TRY_AGAIN_DELAY);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new RedisException.Unavailable("interrupted while a slot moves", interrupted);
    }
  }

  /** Reads the slot map again if a slot may have another primary now. */
  private void refreshAfter(RedisException failure) {
    Throwable cause = failure.getCause();
    if (cause == null || !RedisFailures.isReply(cause) || RedisFailures.isClusterDown(cause)) {
      nodes.refreshSlotMapLater();
    }
  }

  @Override
  public List<@Nullable Response> sendAll(List<Request> requests) {
    SlotMap map = nodes.slotMap();
    Map<ServerAddress, List<Integer>> indexesByPrimary = new LinkedHashMap<>();
    for (int i = 0; i < requests.size(); i++) {
      indexesByPrimary.computeIfAbsent(route(map, requests.get(i)), _ -> new ArrayList<>()).add(i);
    }
    @Nullable Response[] replies = new Response[requests.size()];
    indexesByPrimary.forEach((to, indexes) -> {
      List<@Nullable Response> batch = sendBatch(indexes.stream().map(requests::get).toList(), to);
      for (int i = 0; i < batch.size(); i++) {
        replies[indexes.get(i)] = batch.get(i);
      }
    });
    return Arrays.asList(replies);
  }

  private List<@Nullable Response> sendBatch(List<Request> requests, ServerAddress to) {
    try {
      return nodes.client(to).sendAll(requests);
    } catch (RedisException failure) {
      if (ClusterRedirect.in(failure, to) == null) {
        refreshAfter(failure);
        throw failure;
      }
      // One by one, since redirects can lead to different servers.
      List<@Nullable Response> replies = new ArrayList<>();
      requests.forEach(request -> replies.add(send(request, to)));
      return replies;
    }
  }

  @Override
  public CompletionStage<@Nullable Response> sendLater(Request request) {
    CompletableFuture<@Nullable Response> result = new CompletableFuture<>();
    try {
      SlotMap map = nodes.slotMapNow().orElse(null);
      if (map == null) {
        nodes.refreshSlotMapLater();
        throw new RedisException.Unavailable("the slots of the cluster are not known yet", null);
      }
      ServerAddress to = route(map, request);
      nodes
          .client(to)
          .sendLater(request)
          .whenComplete((reply, failure) -> {
            if (failure == null) {
              result.complete(reply);
            } else {
              failedLater(request, to, failure, result);
            }
          });
    } catch (RedisException.Unavailable notSent) {
      result.completeExceptionally(notSent);
    }
    return result;
  }

  /** Uses a thread of its own, since the connection's thread must not block. */
  private void failedLater(
      Request request,
      ServerAddress to,
      Throwable failure,
      CompletableFuture<@Nullable Response> result) {
    Thread.ofVirtual()
        .name("redis-redirect")
        .start(() -> {
          try {
            if (ClusterRedirect.in(failure, to) != null) {
              result.complete(send(request, to));
              return;
            }
            if (failure instanceof RedisException typed) {
              refreshAfter(typed);
            }
            result.completeExceptionally(failure);
          } catch (Throwable unexpected) {
            result.completeExceptionally(unexpected); // Or the caller would wait for ever.
          }
        });
  }

  @Override
  public void check(String key) {
    RedisException failed = new RedisException.Unavailable("no slot has a server", null);
    for (Map.Entry<ServerAddress, String> primary : nodes.slotMap().hashTags().entrySet()) {
      try {
        send(RedisClient.noOpWrite(key + primary.getValue()), primary.getKey());
        return;
      } catch (RedisException away) {
        failed = away;
      }
    }
    nodes.refreshSlotMapLater();
    throw failed;
  }

  @Override
  public boolean isAway(String key) {
    SlotMap map = nodes.slotMapNow().orElse(null);
    if (map == null) {
      return false;
    }
    ServerAddress primary = map.primary(SlotMap.slot(key));
    return primary == null || nodes.client(primary).isUnreachable();
  }

  @Override
  public Redis newSubscriptionClient() {
    return nodes.newVertxClient();
  }

  @Override
  public boolean mayLoseMessages() {
    return true;
  }

  @Override
  public void close() {
    nodes.close();
  }
}
