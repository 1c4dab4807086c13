package dev.holdfast.cluster;

import dev.holdfast.log.LogKey;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
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
 * The sessions in which this replica owns streams. Redis records them, so other replicas can adopt
 * them if this one is lost. A session is recorded before its first stream is opened, and stays for
 * a while after its last stream has ended. So most streams need no command. While the server of
 * these records is away, and others of its cluster are not, streams open without a record; then
 * other replicas cannot adopt them before {@link #sweep} has recorded the session. Thread-safe.
 *
 * <p>Methods throw {@link dev.holdfast.redis.RedisException} when Redis does not answer in time.
 */
public final class OwnedSessions {

  /**
   * Time for which Redis keeps the replicas and their sessions when no replica runs. Longer than
   * any session lives, so that the next replica can adopt them.
   */
  static final Duration RETENTION = Duration.ofDays(60);

  private static final int BATCH_SIZE = 500;

  private final RedisClient redis;
  private final RedisScript register;
  private final String replica;
  private final String replicas;
  private final String key;
  private final Duration linger;
  private final AtomicLong registrations = new AtomicLong();

  /** By session: the last {@link #add}, by {@link System#nanoTime()}. */
  private final Map<LogKey, Long> recorded = new ConcurrentHashMap<>();

  /** Read lock to add sessions, write lock to remove them: neither may undo the other. */
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  /**
   * Begins without sessions.
   *
   * @param linger how long a session stays on record after {@link #add}: far longer than it takes
   *     to open a stream and begin to write it
   */
  public OwnedSessions(RedisClient redis, RedisKeys keys, ReplicaId replica, Duration linger) {
    this.redis = redis;
    this.register = new RedisScript(redis, OwnedSessions.class, "register.lua");
    this.replica = replica.value();
    this.replicas = keys.replicas();
    this.key = keys.replicaSessions(replica.value());
    this.linger = linger;
  }

  /** Records a session, and this replica in the set of replicas, unless both are on record. */
  public void add(LogKey session) {
    if (recorded.computeIfPresent(session, (id, before) -> System.nanoTime()) != null) {
      return;
    }
    lock.readLock().lock();
    try {
      if (record(session)) {
        registrations.incrementAndGet();
      }
      recorded.put(session, System.nanoTime());
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Returns true if this replica was missing in the set of replicas. */
  private boolean record(LogKey session) {
    Request add = Request.cmd(Command.SADD, key, session.value());
    try {
      return isOne(redis.sendAll(List.of(register(), add, extendRetention())).getFirst());
    } catch (RedisException failure) {
      if (!redis.isAway(replicas) && !redis.isAway(key)) {
        throw failure;
      }
    }
    // Sessions of other servers of the cluster go on. The next sweep records this one.
    var _ = redis.unlessAway(key, () -> isOne(redis.send(add)), false);
    return redis.unlessAway(replicas, () -> isOne(redis.send(register())), false);
  }

  private static boolean isOne(@Nullable Response reply) {
    return RedisClient.number(reply) == 1;
  }

  /** Heartbeats register too, but a session may be added before the first heartbeat succeeds. */
  private Request register() {
    return register.evalRequest(List.of(replicas), replica, RETENTION.toMillis());
  }

  /** Number of times that this replica was missing in the set when it recorded a session. */
  long registrations() {
    return registrations.get();
  }

  /** The recorded sessions. */
  public Set<LogKey> all() {
    return Set.copyOf(recorded.keySet());
  }

  /** Records all sessions again, since other replicas may have considered this one lost. */
  void addAllAgain() {
    change(Command.SADD, List.copyOf(recorded.keySet()));
    redis.send(extendRetention());
  }

  /**
   * Removes sessions in which no stream was opened for a while. Records the others again, since a
   * server of a Redis cluster may have lost its latest writes.
   *
   * @param inUse whether this replica still writes streams of a session
   */
  public void sweep(Predicate<LogKey> inUse) {
    lock.writeLock().lock();
    try {
      List<LogKey> idle = new ArrayList<>();
      long longAgo = System.nanoTime() - linger.toNanos();
      recorded.forEach((session, last) -> {
        if (!inUse.test(session) && last - longAgo < 0 && recorded.remove(session, last)) {
          idle.add(session);
        }
      });
      change(Command.SREM, idle);
      addAllAgain();
    } finally {
      lock.writeLock().unlock();
    }
  }

  private Request extendRetention() {
    return Request.cmd(Command.PEXPIRE, key, RETENTION.toMillis());
  }

  private void change(Command command, List<LogKey> sessions) {
    for (int from = 0; from < sessions.size(); from += BATCH_SIZE) {
      Request request = Request.cmd(command).arg(key);
      sessions.subList(from, Math.min(sessions.size(), from + BATCH_SIZE)).stream()
          .map(LogKey::value)
          .forEach(request::arg);
      redis.send(request);
    }
  }
}
