package dev.holdfast.redis;

import java.util.List;

/**
 * The names of all keys and channels. All keys of a session have its id as their hash tag, so they
 * are in one slot of a cluster.
 *
 * @param prefix the start of every name; differs between programs that share a Redis
 */
public record RedisKeys(String prefix) {

  /**
   * @throws IllegalArgumentException when the prefix has braces, which Redis would take for the
   *     hash tag
   */
  public RedisKeys {
    if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
      throw new IllegalArgumentException("a key prefix must not have braces");
    }
  }

  /** STRING: the version of the layout of all keys. */
  public String layout() {
    return prefix + "layout";
  }

  /** HASH: a session. The session store and the log share it. */
  public String session(String session) {
    return prefix + '{' + session + '}';
  }

  /** ZSET: all sessions by their expiry time in ms since the epoch. */
  public String sessions() {
    return prefix + "sessions";
  }

  /** ZSET: the sessions of one opener, by their expiry time. */
  public String openedSessions(String opener) {
    return sessions() + '@' + opener;
  }

  /** ZSET: the sessions of an upstream with a limit of its own, by their expiry time. */
  public String sessions(String upstream) {
    return sessions() + ':' + upstream;
  }

  /** STREAM: the events of one stream. */
  public String stream(String session, String stream) {
    return session(session) + ":e:" + stream;
  }

  /** HASH: the bytes of a session's events, and of the largest event of each stream. */
  public String sizes(String session) {
    return session(session) + ":sizes";
  }

  /**
   * ZSET: sessions by the bytes of their events; STRING: the sum of all; STRING: the replica that
   * purges; HASH: the clients of these sessions; ZSET: clients by the bytes of their sessions.
   * After the last name, a colon and a client: ZSET of the sessions of the client, by their bytes.
   * All in one slot.
   */
  public List<String> allSizes() {
    String start = prefix + "{sizes}";
    return List.of(start, start + ":sum", start + ":lock", start + ":client", start + ":clients");
  }

  /** The keys of a session and of one of its streams, for scripts. */
  public List<String> sessionAndStream(String session, String stream) {
    return List.of(session(session), stream(session, stream));
  }

  /** STREAM: the messages for the owners of a session's streams. */
  public String inbox(String session) {
    return session(session) + ":in";
  }

  /** ZSET: the complete streams of a session by their expiry time in ms since the epoch. */
  public String streams(String session) {
    return session(session) + ":streams";
  }

  /**
   * ZSET: names and ends of complete streams whose events a shared stream keeps, and ids of inbox
   * messages, by their expiry time.
   */
  public String ends(String session) {
    return session(session) + ":ends";
  }

  /** STRING: the trace of the request that opened a stream, as W3C {@code traceparent}. */
  public String trace(String session, String stream) {
    return session(session) + ":t:" + stream;
  }

  /** STRING: the log level of a session of local tools, which has its own session id. */
  public String logLevel(String localSession) {
    return prefix + "level:" + localSession;
  }

  /** STRING: the key that seals what clients keep now. */
  public String sealKey() {
    return prefix + "seal-key";
  }

  /** STRING: a key that has sealed what clients keep. */
  public String sealKey(int id) {
    return prefix + "seal-key:" + Integer.toHexString(id);
  }

  /** STRING: a sealed text that was used. */
  public String usedSeal(String name) {
    return prefix + "used:" + name;
  }

  /** STRING: the stream of a call that a client may repeat, and its reader. */
  public String call(String digest) {
    return prefix + "call:" + digest;
  }

  /** STRING: the result of a call was delivered, but not to a client that has repeated it. */
  public String readCall(String session, String stream) {
    return session(session) + ":read:" + stream;
  }

  /** HASH: what each replica reports to the consoles of the others, by its id. */
  public String reports() {
    return prefix + "reports";
  }

  /** STRING: exists while no other replica may read stored calls for the consoles. */
  public String storedCallsTurn() {
    return reports() + ":turn";
  }

  /** HASH: what some of the busy clients use, by replica. */
  public String clientUse(int slice) {
    return prefix + "use:" + slice;
  }

  /** ZSET: all replicas by the time of their last heartbeat in ms since the epoch. */
  public String replicas() {
    return prefix + "replicas";
  }

  /** A key that never exists. Health checks try a write on it. */
  public String check() {
    return prefix + "check";
  }

  /**
   * A key beside a session that never exists. A write on it proves that its server takes writes.
   */
  public String check(String session) {
    return session(session) + ":check";
  }

  /** SET: the sessions in which one replica owns streams. */
  public String replicaSessions(String replica) {
    return replicaChannel(replica) + ":sessions";
  }

  /** Channel: the messages of other replicas to one replica. */
  public String replicaChannel(String replica) {
    return replicaChannels() + replica;
  }

  /** The start of all {@link #replicaChannel} names, for scripts. */
  public String replicaChannels() {
    return prefix + "replica:";
  }
}
