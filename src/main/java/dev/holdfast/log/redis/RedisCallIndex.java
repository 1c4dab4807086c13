package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;
import static dev.holdfast.redis.RedisClient.number;

import dev.holdfast.log.CallIndex;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Keeps each entry in a key of its own, as {@code session stream reader}. */
public final class RedisCallIndex implements CallIndex {

  private static final int FIELDS = 3;

  private final RedisClient client;
  private final RedisKeys keys;
  private final String replica;
  private final Function<String, Optional<Duration>> silence;
  private final Duration deadAfter;
  private final RedisScript exchange;

  /**
   * Creates an index on a connection that the caller closes.
   *
   * @param replica the id of this replica
   * @param silence returns the time since the last heartbeat of a replica; empty if it is lost
   * @param deadAfter silence after which a replica is lost
   */
  public RedisCallIndex(
      RedisClient client,
      RedisKeys keys,
      String replica,
      Function<String, Optional<Duration>> silence,
      Duration deadAfter) {
    this.client = client;
    this.keys = keys;
    this.replica = replica;
    this.silence = silence;
    this.deadAfter = deadAfter;
    this.exchange = new RedisScript(client, RedisCallIndex.class, "exchange-call.lua");
  }

  @Override
  public @Nullable Entry exchange(
      String call, @Nullable Entry expected, @Nullable Entry next, Duration life) {
    String before =
        available(
            "find a call",
            () ->
                exchange.runForText(
                    List.of(keys.call(call)), format(expected), format(next), life.toMillis()));
    return parse(before);
  }

  private static String format(@Nullable Entry entry) {
    return entry == null
        ? ""
        : entry.stream().key().value() + " " + entry.stream().name() + " " + entry.reader();
  }

  private static @Nullable Entry parse(String text) {
    String[] fields = text.split(" ", FIELDS);
    return fields.length < FIELDS
        ? null
        : new Entry(new StreamRef(new LogKey(fields[0]), fields[1]), fields[2]);
  }

  @Override
  public void markRead(StreamRef stream, Duration life) {
    Request mark =
        Request.cmd(Command.SET).arg(key(stream)).arg("1").arg("PX").arg(life.toMillis());
    available(
        "record that a result was read",
        () -> {
          var _ = client.send(mark);
        });
  }

  @Override
  public boolean isRead(StreamRef stream) {
    Request exists = Request.cmd(Command.EXISTS).arg(key(stream));
    return available(
        "find out if a result was read",
        () -> number(Objects.requireNonNull(client.send(exists))) > 0);
  }

  private String key(StreamRef stream) {
    return keys.readCall(stream.key().value(), stream.name());
  }

  @Override
  public String replica() {
    return replica;
  }

  @Override
  public Optional<Duration> silence(String other) {
    return other.equals(replica)
        ? Optional.of(Duration.ZERO)
        : available("find a replica", () -> silence.apply(other));
  }

  @Override
  public Duration deadAfter() {
    return deadAfter;
  }
}
