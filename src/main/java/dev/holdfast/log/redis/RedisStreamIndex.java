package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;
import static dev.holdfast.redis.RedisClient.number;

import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Lists streams: the session hash has the open ones, a set has the complete ones. */
public final class RedisStreamIndex implements StreamIndex {

  private final RedisClient client;
  private final RedisKeys keys;
  private final Supplier<Set<String>> alive;
  private final RedisScript measure;

  /**
   * Creates an index on a connection that the caller closes.
   *
   * @param alive the ids of the replicas that are not lost: a lost one cannot remove its tails
   */
  public RedisStreamIndex(RedisClient client, RedisKeys keys, Supplier<Set<String>> alive) {
    this.client = client;
    this.keys = keys;
    this.alive = alive;
    this.measure = new RedisScript(client, RedisStreamIndex.class, "measure-streams.lua");
  }

  @Override
  public Page list(LogKey session, long skip, int most) {
    return available("list streams", () -> read(session, skip, most));
  }

  @Override
  public List<List<Connection>> followed(List<LogKey> sessions) {
    return sessions.isEmpty() ? List.of() : available("list tails", () -> connections(sessions));
  }

  private List<List<Connection>> connections(List<LogKey> sessions) {
    Set<String> replicas = alive.get();
    Map<LogKey, List<Connection>> connections = new HashMap<>();
    StreamField.TAIL
        .scan(client, keys, sessions)
        .forEach((stream, tail) -> {
          if (replicas.contains(StreamOwner.replicaOf(tail))) {
            connections
                .computeIfAbsent(stream.key(), _ -> new ArrayList<>())
                .add(new Connection(stream.name(), since(tail)));
          }
        });
    return sessions.stream().map(each -> connections.getOrDefault(each, List.of())).toList();
  }

  private static @Nullable Instant since(String tail) {
    return WatcherRegistry.registered(Long.parseLong(tail.substring(tail.indexOf(' ') + 1)));
  }

  private Page read(LogKey session, long skip, int most) {
    Map<StreamRef, String> owners = StreamField.OWNER.scan(client, keys, List.of(session));
    List<StreamRef> found =
        new ArrayList<>(owners.keySet().stream().skip(skip).limit(most + 1L).toList());
    if (found.size() <= most) {
      long from = Math.max(0, skip - owners.size());
      found.addAll(complete(session, from, most - found.size()));
    }
    List<StreamRef> page = found.subList(0, Math.min(most, found.size()));
    boolean more = found.size() > most;
    return new Page(page.isEmpty() ? List.of() : entries(page, owners), more);
  }

  /** Returns one stream more than there is room for, if there are more. */
  private List<StreamRef> complete(LogKey session, long from, int room) {
    Response names =
        client.send(
            Request.cmd(Command.ZRANGE, keys.streams(session.value()), from, from + room, "REV"));
    return names == null
        ? List.of()
        : names.stream().map(each -> new StreamRef(session, each.toString())).toList();
  }

  private List<Entry> entries(List<StreamRef> streams, Map<StreamRef, String> owners) {
    List<String> logs =
        streams.stream().map(each -> keys.stream(each.key().value(), each.name())).toList();
    List<Response> measured = measure.runForList(logs);
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < streams.size(); i++) {
      StreamRef stream = streams.get(i);
      String owner = owners.get(stream);
      Position last = position(measured.get(3 * i + 2));
      if (owner != null || last.number() > 0) {
        entries.add(
            new Entry(
                stream,
                owner == null ? null : StreamOwner.replicaOf(owner),
                position(measured.get(3 * i + 1)),
                last,
                number(measured.get(3 * i))));
      }
    }
    return entries;
  }

  private static Position position(Response id) {
    return Position.parse(id.toString()).orElse(Position.START);
  }
}
