package dev.holdfast.console.fleet;

import dev.holdfast.cluster.ReplicaList;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges reports through a hash in Redis. A replica that shows a console asks the others, over
 * their channels. Each of them then reports what has changed, for some seconds. While nobody looks,
 * nothing is sent.
 */
public final class RedisReports implements Reports {

  private static final Logger LOG = Logger.getLogger(RedisReports.class);
  private static final String LOOK = "look";

  /** Time for which a replica reports after it was asked. */
  private static final Duration ASKED = Duration.ofSeconds(20);

  private static final Duration ASK_AGAIN = Duration.ofSeconds(8);
  private static final Duration INTERVAL = Duration.ofSeconds(2);

  /** Reports of replicas that are gone are shown for this time. */
  private static final Duration KEPT = Duration.ofHours(1);

  private final RedisClient client;
  private final RedisKeys keys;
  private final String replica;
  private final ReplicaList replicas;
  private final Supplier<Report> own;
  private final LongSupplier changes;
  private final AutoLock lock = new AutoLock();

  // Guarded by the lock.
  private long askedAt = System.nanoTime() - ASK_AGAIN.toNanos();
  private long askedUntil;
  private boolean reporting;

  /**
   * Creates the exchange.
   *
   * @param own makes the report of this replica
   * @param changes returns another number after each change of the report
   */
  public RedisReports(
      RedisClient client,
      RedisKeys keys,
      String replica,
      ReplicaList replicas,
      Supplier<Report> own,
      LongSupplier changes) {
    this.client = client;
    this.keys = keys;
    this.replica = replica;
    this.replicas = replicas;
    this.own = own;
    this.changes = changes;
  }

  /** Takes a message to this replica. Returns at once. */
  public void received(String message) {
    if (!message.equals(LOOK)) {
      return;
    }
    try (var _ = lock.hold()) {
      askedUntil = System.nanoTime() + ASKED.toNanos();
      if (!reporting) {
        reporting = true;
        Thread _ = Thread.ofVirtual().name("console-reports").start(this::report);
      }
    }
  }

  private void report() {
    @Nullable Long reported = null;
    try {
      while (isAsked()) {
        long now = changes.getAsLong();
        if (reported == null || now != reported) {
          reported = publish() ? Long.valueOf(now) : null;
        }
        Thread.sleep(INTERVAL);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the thread, if nobody has asked since. */
  private boolean isAsked() {
    try (var _ = lock.hold()) {
      reporting = System.nanoTime() - askedUntil < 0;
      return reporting;
    }
  }

  private boolean publish() {
    try {
      Request report =
          Request.cmd(Command.HSET).arg(keys.reports()).arg(replica).arg(own.get().write());
      Request expiry = Request.cmd(Command.PEXPIRE).arg(keys.reports()).arg(KEPT.toMillis());
      List<@Nullable Response> _ = client.sendAll(List.of(report, expiry));
      return true;
    } catch (RuntimeException away) {
      LOG.debugf("not reported: %s", away.getMessage());
      return false;
    }
  }

  @Override
  public List<byte[]> latest() {
    ask();
    Response found = client.send(Request.cmd(Command.HVALS).arg(keys.reports()));
    return found == null ? List.of() : found.stream().map(Response::toBytes).toList();
  }

  private void ask() {
    try (var _ = lock.hold()) {
      if (System.nanoTime() - askedAt < ASK_AGAIN.toNanos()) {
        return;
      }
      askedAt = System.nanoTime();
    }
    for (ReplicaList.Replica each : replicas.list()) {
      if (each.alive() && !each.id().value().equals(replica)) {
        Request look =
            Request.cmd(Command.PUBLISH).arg(keys.replicaChannel(each.id().value())).arg(LOOK);
        client
            .sendLater(look)
            .whenComplete((_, failure) -> {
              if (failure instanceof RedisException) {
                LOG.debugf("replica not asked: %s", failure.getMessage());
              }
            });
      }
    }
  }

  @Override
  public void forget(String other) {
    Response _ = client.send(Request.cmd(Command.HDEL).arg(keys.reports()).arg(other));
  }
}
