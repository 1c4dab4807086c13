package dev.holdfast.redis;

import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The way to the one server, or to that of many which has a key. See {@link RedisLink}. */
sealed interface RedisRoute extends AutoCloseable permits RedisNode, RedisCluster {

  /** As {@link RedisLink#send}. */
  @Nullable Response send(Request request);

  /** As {@link RedisLink#sendAll}. */
  List<@Nullable Response> sendAll(List<Request> requests);

  /** As {@link RedisLink#sendLater}. */
  CompletionStage<@Nullable Response> sendLater(Request request);

  /** As {@link RedisLink#check}. */
  void check(String key);

  /** As {@link RedisLink#newClient}. */
  Redis newClient();

  @Override
  void close();

  /**
   * A write that is refused whenever one is, for want of memory, disk, replicas or role, and
   * otherwise writes nothing.
   */
  static Request idleWrite(String key) {
    return Request.cmd(Command.SETRANGE).arg(key).arg(0).arg("");
  }
}
