package dev.holdfast.cluster;

import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisLink;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Predicate;

/**
 * The sessions in which this replica owns streams, as others read them from Redis when it is lost.
 * A session is on record before its first stream is opened, and for a while after its last has
 * ended; so nothing is asked of Redis for each stream. Thread-safe.
 *
 * <p>Methods throw {@link dev.holdfast.redis.RedisException} when Redis cannot be reached in time.
 */
public final class OwnedSessions {

  /**
   * How long Redis keeps what says which replicas there were and what they own, once none of them
   * runs any more: longer than any session can live, so that the next one started takes it over.
   */
  static final Duration KEPT = Duration.ofDays(60);

  private static final int AT_ONCE = 500;

  private final RedisLink link;
  private final String key;
  private final Duration linger;

  /** By session, when it was last asked for, by {@link System#nanoTime()}. */
  private final Map<String, Long> recorded = new ConcurrentHashMap<>();

  /** Held to record, by any number; held alone to forget: else the one might undo the other. */
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  /**
   * Begins without sessions.
   *
   * @param linger how long a session stays on record after it was asked for: far longer than it
   *     takes from there until a stream that is opened is seen to be written
   */
  public OwnedSessions(RedisLink link, RedisKeys keys, ReplicaId replica, Duration linger) {
    this.link = link;
    this.key = keys.replicaSessions(replica.value());
    this.linger = linger;
  }

  /** Sees to it that a session is on record. */
  public void add(String session) {
    if (recorded.computeIfPresent(session, (id, before) -> System.nanoTime()) != null) {
      return;
    }
    lock.readLock().lock();
    try {
      link.sendAll(List.of(Request.cmd(Command.SADD).arg(key).arg(session), keep()));
      recorded.put(session, System.nanoTime());
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Records everything once more, after others may have taken this replica for lost. */
  void addAllAgain() {
    change(Command.SADD, List.copyOf(recorded.keySet()));
    link.send(keep());
  }

  /**
   * Takes sessions off the record in which no stream was opened for a while.
   *
   * @param inUse whether streams of a session are still written here
   */
  public void sweep(Predicate<String> inUse) {
    lock.writeLock().lock();
    try {
      List<String> idle = new ArrayList<>();
      long longAgo = System.nanoTime() - linger.toNanos();
      for (String session : recorded.keySet()) {
        if (!inUse.test(session)
            && recorded.computeIfPresent(session, (id, last) -> last - longAgo < 0 ? null : last)
                == null) {
          idle.add(session);
        }
      }
      change(Command.SREM, idle);
      link.send(keep());
    } finally {
      lock.writeLock().unlock();
    }
  }

  private Request keep() {
    return Request.cmd(Command.PEXPIRE).arg(key).arg(KEPT.toMillis());
  }

  private void change(Command command, List<String> sessions) {
    for (int from = 0; from < sessions.size(); from += AT_ONCE) {
      Request request = Request.cmd(command).arg(key);
      sessions.subList(from, Math.min(sessions.size(), from + AT_ONCE)).forEach(request::arg);
      link.send(request);
    }
  }
}
