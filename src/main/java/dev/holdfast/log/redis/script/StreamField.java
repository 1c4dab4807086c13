package dev.holdfast.log.redis.script;

import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamIndex.Opening;
import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The fields that the session hash has for each open stream. A field's name is a letter, a colon
 * and the name of the stream. The scripts have the same names as constants in {@code
 * session-hash.lua}.
 *
 * <p>A complete stream has no fields but perhaps {@link #TAIL}: its last entry has the field {@code
 * z}. A stream whose events a shared stream keeps has no entries of its own: when it completes, its
 * name is added to a set of ended streams. A shared stream has the owner {@code -}, and a stream
 * that nobody writes {@code - fence}, so no replica ever claims them.
 */
public enum StreamField {
  /** The owner, as {@code replica fence}; see {@link StreamOwner}. */
  OWNER("o:"),

  /** The JSON-RPC ids of the requests that the stream answers. */
  REQUESTS("r:"),

  /**
   * The position of the last event. If a shared stream keeps the events: {@code 0-} and the number
   * of events.
   */
  LAST("l:"),

  /**
   * The one tail, as {@code replica number}. A complete stream has it while a client reads it on
   * another replica than that of the writer, or again. A stream whose events a shared stream keeps
   * has none.
   */
  TAIL("t:"),

  /** The position up to which the stream was delivered, once something was delivered. */
  DELIVERED("d:"),

  /**
   * The id from which the upstream can resume the stream, as {@code number id}, while no event with
   * a higher number has an id.
   */
  UPSTREAM("u:"),

  /** The shared stream that keeps the events, if one does. */
  KEPT_IN("i:"),

  /**
   * Time at which the stream was opened for a request, and the tool that the request calls, as
   * {@link Opening} says. When the stream completes, its last entry gets this as the field {@code
   * c}.
   */
  CALL("c:");

  /** Before the first step of a scan, and after its last one. */
  private static final String FIRST_STEP = "0";

  private static final int FIELDS_PER_STEP = 1000;

  private final String prefix;

  StreamField(String prefix) {
    this.prefix = prefix;
  }

  /** The name of a stream's field. */
  public String of(StreamRef stream) {
    return prefix + stream.name();
  }

  /** The command that reads a stream's field. */
  public Request get(RedisKeys keys, StreamRef stream) {
    return Request.cmd(Command.HGET, keys.session(stream.key().value()), of(stream));
  }

  /**
   * Reads this field of the open streams of sessions, and no other fields. A session with many
   * streams takes several steps, since Redis serves nobody else during a step.
   *
   * @return the values, ordered by session and name
   */
  public SequencedMap<StreamRef, String> scan(
      RedisClient client, RedisKeys keys, Collection<LogKey> sessions) {
    SequencedMap<StreamRef, String> values =
        new TreeMap<>(
            Comparator.comparing((StreamRef stream) -> stream.key().value())
                .thenComparing(StreamRef::name));
    Map<LogKey, String> cursors = new LinkedHashMap<>();
    sessions.forEach(session -> cursors.put(session, FIRST_STEP));
    while (!cursors.isEmpty()) {
      List<LogKey> asked = List.copyOf(cursors.keySet());
      List<@Nullable Response> steps =
          client.sendMany(
              asked.stream().map(session -> step(keys, session, cursors.get(session))).toList());
      for (int i = 0; i < asked.size(); i++) {
        LogKey session = asked.get(i);
        Response step = Objects.requireNonNull(steps.get(i));
        Response fields = step.get(1);
        for (int n = 0; n < fields.size(); n += 2) {
          String name = fields.get(n).toString().substring(prefix.length());
          values.put(new StreamRef(session, name), fields.get(n + 1).toString());
        }
        cursors.put(session, step.get(0).toString());
      }
      cursors.values().removeIf(FIRST_STEP::equals);
    }
    return values;
  }

  private Request step(RedisKeys keys, LogKey session, @Nullable String cursor) {
    return Request.cmd(
        Command.HSCAN,
        keys.session(session.value()),
        cursor,
        "MATCH",
        prefix + "*",
        "COUNT",
        FIELDS_PER_STEP);
  }
}
