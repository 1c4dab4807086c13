package dev.holdfast.log.redis.script;

import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;

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

  private final String prefix;

  StreamField(String prefix) {
    this.prefix = prefix;
  }

  /** The prefix of the names of all fields of this kind. */
  public String prefix() {
    return prefix;
  }

  /** The name of a stream's field. */
  public String of(StreamRef stream) {
    return prefix + stream.name();
  }

  /** The command that reads a stream's field. */
  public Request get(RedisKeys keys, StreamRef stream) {
    return Request.cmd(Command.HGET).arg(keys.session(stream.session())).arg(of(stream));
  }
}
