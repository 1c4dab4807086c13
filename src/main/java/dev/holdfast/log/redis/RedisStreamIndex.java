package dev.holdfast.log.redis;

import dev.holdfast.log.Position;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads in Redis which streams a session has: the open ones in its hash, the others in a set. */
public final class RedisStreamIndex implements StreamIndex {

  private static final String OWNER = "o:";

  private final RedisClient link;
  private final RedisKeys keys;

  /** Uses a connection that is not its own. */
  public RedisStreamIndex(RedisClient link, RedisKeys keys) {
    this.link = link;
    this.keys = keys;
  }

  @Override
  public Page list(String session, long skip, int most) {
    try {
      return read(session, skip, most);
    } catch (RedisException failure) {
      throw new StoreUnavailableException("could not list streams", failure);
    }
  }

  private Page read(String session, long skip, int most) {
    Map<String, String> owners = owners(session);
    List<String> names = owners.keySet().stream().skip(skip).limit(most + 1L).toList();
    List<String> found = new ArrayList<>(names);
    if (found.size() <= most) {
      long from = Math.max(0, skip - owners.size());
      found.addAll(complete(session, from, most - found.size()));
    }
    boolean more = found.size() > most;
    List<String> page = found.subList(0, Math.min(most, found.size()));
    return new Page(page.isEmpty() ? List.of() : entries(session, page, owners), more);
  }

  private Map<String, String> owners(String session) {
    Map<String, String> owners = new TreeMap<>();
    Response fields = link.send(Request.cmd(Command.HGETALL).arg(keys.session(session)));
    if (fields != null) {
      for (String field : fields.getKeys()) {
        if (field.startsWith(OWNER)) {
          // The replica's id, and then the fence.
          String owner = fields.get(field).toString().split(" ", 2)[0];
          owners.put(field.substring(OWNER.length()), owner);
        }
      }
    }
    return owners;
  }

  /** One more than there is room for tells that there are more. */
  private List<String> complete(String session, long from, int room) {
    Response names =
        link.send(
            Request.cmd(Command.ZRANGE).arg(keys.streams(session)).arg(from).arg(from + room));
    List<String> complete = new ArrayList<>();
    for (int i = 0; names != null && i < names.size(); i++) {
      complete.add(names.get(i).toString());
    }
    return complete;
  }

  private List<Entry> entries(String session, List<String> names, Map<String, String> owners) {
    List<Request> questions = new ArrayList<>();
    for (String name : names) {
      String key = keys.stream(session, name);
      questions.add(Request.cmd(Command.XLEN).arg(key));
      questions.add(Request.cmd(Command.XREVRANGE).arg(key).arg("+").arg("-").arg("COUNT").arg(1));
    }
    List<@Nullable Response> answers = link.sendAll(questions);
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      Response kept = answers.get(2 * i);
      String owner = owners.get(names.get(i));
      Position last = lastOf(answers.get(2 * i + 1));
      if (owner != null || last.number() > 0) {
        StreamRef stream = new StreamRef(session, names.get(i));
        entries.add(
            new Entry(stream, owner, last, kept == null ? 0 : Long.parseLong(kept.toString())));
      }
    }
    return entries;
  }

  private static Position lastOf(@Nullable Response newest) {
    return newest == null || newest.size() == 0
        ? Position.START
        : Position.parse(newest.get(0).get(0).toString()).orElse(Position.START);
  }
}
