package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.read.StreamEntries;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Lists streams: the session hash has the open ones, a set has the complete ones. */
public final class RedisStreamIndex implements StreamIndex {

  private final RedisClient client;
  private final RedisKeys keys;

  /** Creates an index on a connection that the caller closes. */
  public RedisStreamIndex(RedisClient client, RedisKeys keys) {
    this.client = client;
    this.keys = keys;
  }

  @Override
  public Page list(String session, long skip, int most) {
    return available("list streams", () -> read(session, skip, most));
  }

  private Page read(String session, long skip, int most) {
    Map<String, String> owners = owners(session);
    List<String> found =
        new ArrayList<>(owners.keySet().stream().skip(skip).limit(most + 1L).toList());
    if (found.size() <= most) {
      long from = Math.max(0, skip - owners.size());
      found.addAll(complete(session, from, most - found.size()));
    }
    List<String> page = found.subList(0, Math.min(most, found.size()));
    boolean more = found.size() > most;
    return new Page(page.isEmpty() ? List.of() : entries(session, page, owners), more);
  }

  private Map<String, String> owners(String session) {
    Map<String, String> owners = new TreeMap<>();
    Response fields = client.send(Request.cmd(Command.HGETALL).arg(keys.session(session)));
    if (fields != null) {
      String prefix = StreamField.OWNER.prefix();
      for (String field : fields.getKeys()) {
        if (field.startsWith(prefix)) {
          String owner = StreamOwner.replicaOf(fields.get(field).toString());
          owners.put(field.substring(prefix.length()), owner);
        }
      }
    }
    return owners;
  }

  /** Returns one stream more than there is room for, if there are more. */
  private List<String> complete(String session, long from, int room) {
    Response names =
        client.send(
            Request.cmd(Command.ZRANGE).arg(keys.streams(session)).arg(from).arg(from + room));
    return names == null ? List.of() : names.stream().map(Response::toString).toList();
  }

  private List<Entry> entries(String session, List<String> names, Map<String, String> owners) {
    List<Request> requests = new ArrayList<>();
    for (String name : names) {
      String key = keys.stream(session, name);
      requests.add(Request.cmd(Command.XLEN).arg(key));
      requests.add(Request.cmd(Command.XREVRANGE).arg(key).arg("+").arg("-").arg("COUNT").arg(1));
    }
    List<@Nullable Response> answers = client.sendAll(requests);
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      Response events = answers.get(2 * i);
      String owner = owners.get(names.get(i));
      Position last = lastOf(answers.get(2 * i + 1));
      if (owner != null || last.number() > 0) {
        StreamRef stream = new StreamRef(session, names.get(i));
        entries.add(
            new Entry(stream, owner, last, events == null ? 0 : Long.parseLong(events.toString())));
      }
    }
    return entries;
  }

  private static Position lastOf(@Nullable Response newest) {
    return StreamEntries.of(newest).stream()
        .findFirst()
        .map(LogEvent::position)
        .orElse(Position.START);
  }
}
