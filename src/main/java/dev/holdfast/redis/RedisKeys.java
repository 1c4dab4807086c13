package dev.holdfast.redis;

/**
 * The names of all keys and channels. All keys of a session have its id as their hash tag, so that
 * they live in one slot of a cluster.
 *
 * @param prefix stands before every name; tells programs apart that share a Redis
 */
public record RedisKeys(String prefix) {

  /**
   * @throws IllegalArgumentException when the prefix has braces, which would be taken for the hash
   *     tag
   */
  public RedisKeys {
    if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
      throw new IllegalArgumentException("a key prefix has no braces");
    }
  }

  /** HASH: the session, shared by all who keep something about it. */
  public String session(String session) {
    return prefix + '{' + session + '}';
  }

  /** ZSET: all sessions, by when they expire in ms since the epoch. */
  public String sessions() {
    return prefix + "sessions";
  }

  /** ZSET: the sessions of one upstream whose number is limited by itself, by when they expire. */
  public String sessions(String upstream) {
    return sessions() + ':' + upstream;
  }

  /** STREAM: the events of one stream. */
  public String stream(String session, String stream) {
    return session(session) + ":e:" + stream;
  }

  /** STREAM: what waits for the owners of a session's streams. */
  public String inbox(String session) {
    return session(session) + ":in";
  }

  /** ZSET: the complete streams of a session, by when they expire in ms since the epoch. */
  public String streams(String session) {
    return session(session) + ":streams";
  }

  /**
   * ZSET: ends and names of streams that were kept in another, and names of what was put into the
   * inbox, by when they are forgotten.
   */
  public String ends(String session) {
    return session(session) + ":ends";
  }

  /** STRING: the log level of a session of local tools, whose name there is another. */
  public String logLevel(String localSession) {
    return prefix + "level:" + localSession;
  }

  /** ZSET: all replicas, by when they were last heard of in ms since the epoch. */
  public String replicas() {
    return prefix + "replicas";
  }

  /** Never there: what it takes to write is tried on it. */
  public String check() {
    return prefix + "check";
  }

  /** SET: the sessions in which one replica owns streams. */
  public String replicaSessions(String replica) {
    return replicaChannel(replica) + ":sessions";
  }

  /** Channel: what one replica is told by others. */
  public String replicaChannel(String replica) {
    return replicaChannels() + replica;
  }

  /** What {@link #replicaChannel} puts before the replica's id, for scripts. */
  public String replicaChannels() {
    return prefix + "replica:";
  }
}
