package dev.holdfast.log.redis.script;

import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.Comparator;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The fields that the session hash has for each open stream. A field's name is a letter, a colon
 * and the name of the stream. The scripts have the same names as constants in {@code
 * session-hash.lua}.
 *
 * <p>A complete stream has no fields: its last entry has the field {@code z}. A stream whose events
 * a shared stream keeps has no entries of its own: when it completes, its name is added to a set of
 * ended streams. A shared stream has the owner {@code -}, so no replica ever claims it.
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
   * The one tail, as {@code replica number}. A stream whose events a shared stream keeps has none.
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
  KEPT_IN("i:");

  /** More fields than a session hash has, so that one reply has all of them. */
  private static final int ALL_FIELDS = 10_000;

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
    return Request.cmd(Command.HGET).arg(keys.session(stream.session())).arg(of(stream));
  }

  /** The command that reads the owners of a session's open streams, and no other fields. */
  public static Request scanOwners(RedisKeys keys, String session) {
    return OWNER.scan(keys, session);
  }

  /** The command that reads the tails of a session's open streams, and no other fields. */
  public static Request scanTails(RedisKeys keys, String session) {
    return TAIL.scan(keys, session);
  }

  private Request scan(RedisKeys keys, String session) {
    return Request.cmd(Command.HSCAN)
        .arg(keys.session(session))
        .arg(0)
        .arg("MATCH")
        .arg(prefix + "*")
        .arg("COUNT")
        .arg(ALL_FIELDS);
  }

  /** The open streams and their owners in the reply to {@link #scanOwners}, ordered by name. */
  public static SequencedMap<StreamRef, String> ownersIn(String session, @Nullable Response scan) {
    return OWNER.valuesIn(session, scan);
  }

  /** The tails in the reply to {@link #scanTails}, each as {@code replica number}. */
  public static SequencedMap<StreamRef, String> tailsIn(String session, @Nullable Response scan) {
    return TAIL.valuesIn(session, scan);
  }

  private SequencedMap<StreamRef, String> valuesIn(String session, @Nullable Response scan) {
    SequencedMap<StreamRef, String> values = new TreeMap<>(Comparator.comparing(StreamRef::name));
    Response fields = scan == null ? null : scan.get(1);
    for (int i = 0; fields != null && i + 1 < fields.size(); i += 2) {
      String name = fields.get(i).toString().substring(prefix.length());
      values.put(new StreamRef(session, name), fields.get(i + 1).toString());
    }
    return values;
  }
}
