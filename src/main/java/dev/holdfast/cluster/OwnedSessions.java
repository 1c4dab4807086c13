package dev.holdfast.cluster;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

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

  private static final RedisScript ENLIST = RedisScript.load(OwnedSessions.class, "enlist.lua");

  private final RedisClient link;
  private final String replica;
  private final String replicas;
  private final String key;
  private final Duration linger;
  private final AtomicLong enlistments = new AtomicLong();

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
  public OwnedSessions(RedisClient link, RedisKeys keys, ReplicaId replica, Duration linger) {
    this.link = link;
    this.replica = replica.value();
    this.replicas = keys.replicas();
    this.key = keys.replicaSessions(replica.value());
    this.linger = linger;
  }

  /** Sees to it that a session is on record, and this replica where others look for the lost. */
  public void add(String session) {
    if (recorded.computeIfPresent(session, (id, before) -> System.nanoTime()) != null) {
      return;
    }
    lock.readLock().lock();
    try {
      List<@Nullable Response> replies =
          link.sendAll(List.of(enlist(), Request.cmd(Command.SADD).arg(key).arg(session), keep()));
      if (String.valueOf(replies.getFirst()).equals("1")) {
        enlistments.incrementAndGet();
      }
      recorded.put(session, System.nanoTime());
    } finally {
      lock.readLock().unlock();
    }
  }

  /** A beat does it too, but not before Redis has let the first one through. */
  private Request enlist() {
    return ENLIST.evalRequest(List.of(replicas), args -> args.arg(replica).arg(KEPT.toMillis()));
  }

  /** How often this replica was not on the list of all when it recorded a session. */
  long enlistments() {
    return enlistments.get();
  }

  /** The sessions that are on record, by id. */
  public Set<String> all() {
    return Set.copyOf(recorded.keySet());
  }

  /** Records everything once more, after others may have taken this replica for lost. */
  void addAllAgain() {
    change(Command.SADD, List.copyOf(recorded.keySet()));
    link.send(keep());
  }

  /**
   * Takes sessions off the record in which no stream was opened for a while. The others are
   * recorded once more: a server of a cluster may have lost what it had last.
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
      addAllAgain();
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
