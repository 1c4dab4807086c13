package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;
import static dev.holdfast.redis.RedisClient.number;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.script.StreamEntries;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Lists streams: the session hash has the open ones, a set has the complete ones. */
public final class RedisStreamIndex implements StreamIndex {

  private final RedisClient client;
  private final RedisKeys keys;
  private final Supplier<Set<String>> alive;
  private final RedisScript describe;

  /**
   * Creates an index on a connection that the caller closes.
   *
   * @param alive the ids of the replicas that are not lost: a lost one cannot remove its tails
   */
  public RedisStreamIndex(RedisClient client, RedisKeys keys, Supplier<Set<String>> alive) {
    this.client = client;
    this.keys = keys;
    this.alive = alive;
    this.describe = StreamScripts.load(client, "quotas.lua", "describe-streams.lua");
  }

  @Override
  public Page list(LogKey session, long skip, int most) {
    return available("list streams", () -> read(session, skip, most));
  }

  @Override
  public List<List<Connection>> followed(List<LogKey> sessions) {
    return sessions.isEmpty() ? List.of() : available("list tails", () -> connections(sessions));
  }

  @Override
  public Optional<Entry> find(StreamRef stream) {
    return available("find a stream", () -> entries(stream.key(), List.of(stream)).stream())
        .findFirst();
  }

  @Override
  public List<List<StreamRef>> complete(List<LogKey> sessions, int most) {
    List<Request> names =
        sessions.stream()
            .map(
                each -> Request.cmd(Command.ZRANGE, keys.streams(each.value()), 0, most - 1, "REV"))
            .toList();
    List<@Nullable Response> found = available("list streams", () -> client.sendMany(names));
    return IntStream.range(0, sessions.size())
        .mapToObj(i -> streams(sessions.get(i), found.get(i)))
        .toList();
  }

  private static List<StreamRef> streams(LogKey session, @Nullable Response names) {
    return names == null
        ? List.of()
        : names.stream().map(each -> new StreamRef(session, each.toString())).toList();
  }

  @Override
  public byte[] newestMessage(StreamRef stream) {
    String key = keys.stream(stream.key().value(), stream.name());
    Request newest = Request.cmd(Command.XREVRANGE, key, "+", "-", "COUNT", 1);
    return available(
        "read a message",
        () ->
            StreamEntries.of(client.send(newest)).stream()
                .findFirst()
                .map(LogEvent::payload)
                .orElse(new byte[0]));
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
    return new Page(page.isEmpty() ? List.of() : entries(session, page), more);
  }

  /** Returns one stream more than there is room for, if there are more. */
  private List<StreamRef> complete(LogKey session, long from, int room) {
    Response names =
        client.send(
            Request.cmd(Command.ZRANGE, keys.streams(session.value()), from, from + room, "REV"));
    return streams(session, names);
  }

  private List<Entry> entries(LogKey session, List<StreamRef> streams) {
    List<Response> found =
        describe.runForList(
            List.of(keys.session(session.value())),
            Message.MOST,
            streams.stream().map(StreamRef::name).toList());
    Set<String> replicas = alive.get();
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < streams.size(); i++) {
      Entry entry = entry(streams.get(i), found.get(i), replicas);
      if (entry.open() || entry.last().number() > 0) {
        entries.add(entry);
      }
    }
    return entries;
  }

  private static Entry entry(StreamRef stream, Response found, Set<String> replicas) {
    String owner = found.get(6).toString();
    String tail = found.get(7).toString();
    byte[] newest = found.get(8).toBytes();
    boolean isOpen = !owner.isEmpty();
    return new Entry(
        stream,
        isOpen ? StreamOwner.replicaOf(owner) : null,
        position(found.get(1)),
        position(found.get(2)),
        number(found.get(0)),
        new Details(
            Opening.parse(found.get(5).toString()).orElse(null),
            !tail.isEmpty() && replicas.contains(StreamOwner.replicaOf(tail)),
            !isOpen && found.get(4).toString().equals("1"),
            isOpen ? null : Duration.ofMillis(Math.max(0, number(found.get(3)))),
            new Message(newest, newest.length == number(found.get(9)))));
  }

  private static Position position(Response id) {
    return Position.parse(id.toString()).orElse(Position.START);
  }
}
