package dev.holdfast.faults;

import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/** Schedules of what befalls {@link NetworkHost hosts}: partitions, and frozen processes. */
final class PartitionSchedules {

  private static final int SHORTEST_MILLIS = 1000;

  private static final int LONGEST_MILLIS = LongRun.REQUESTED ? 120_000 : 3000;

  private static final int APART = LongRun.REQUESTED ? 1500 : 600;

  /** One of the faults. */
  private interface Blow {
    /** Adds it at a time, for so long. */
    void at(Schedule schedule, long millis, int length);
  }

  private static final List<Blow> PARTITIONS =
      List.of(
          (schedule, at, length) ->
              cut(schedule, at, length, List.of(replica(schedule)), NetworkHost.REDIS),
          (schedule, at, length) ->
              cut(schedule, at, length, List.of(replica(schedule)), List.of(NetworkHost.SERVER)),
          (schedule, at, length) ->
              cut(schedule, at, length, List.of(replica(schedule)), List.of(NetworkHost.CLIENTS)),
          PartitionSchedules::isolatePrimary);

  private static final List<Blow> MORE =
      List.of(
          (schedule, at, length) ->
              cut(schedule, at, length, List.of(replica(schedule)), List.of(redis(schedule))),
          (schedule, at, length) ->
              cut(schedule, at, length, NetworkHost.REPLICAS, List.of(NetworkHost.SERVER)),
          PartitionSchedules::isolatePrimary,
          PartitionSchedules::freezeReplica,
          PartitionSchedules::freezePrimary);

  private PartitionSchedules() {}

  /** All kinds in turn, each time in another order. At last all replicas are ready again. */
  static Schedule of(Load load) {
    Schedule schedule = new Schedule(FaultSchedules.SEED);
    long span = load.span().toMillis();
    List<Blow> all = new ArrayList<>(PARTITIONS);
    if (LongRun.REQUESTED) {
      all.addAll(MORE);
    }
    long at = 1000;
    long end = span;
    while (at < span) {
      for (Blow blow : schedule.shuffled(all)) {
        if (at < span) {
          int length = length(schedule);
          blow.at(schedule, at, length);
          end = Math.max(end, at + length);
          at += length + schedule.below(APART);
        }
      }
    }
    return schedule.endAt(end + 1, "await all replicas", FaultTestbed::awaitAll);
  }

  /** The clock of any replica jumps ahead or back, by up to ten minutes. */
  static Schedule ofClocks(Load load) {
    Schedule schedule = new Schedule(FaultSchedules.SEED);
    long span = load.span().toMillis();
    for (long at = 1000; at < span; at += 2000) {
      NetworkHost host = replica(schedule);
      Duration ahead = Duration.ofSeconds(schedule.below(1200) - 600L);
      schedule.at(
          at,
          "clock of " + host + ": " + ahead.toSeconds() + " s ahead",
          testbed -> testbed.moveClock(host, ahead));
    }
    return schedule.endAt(
        span,
        "all clocks right",
        testbed -> {
          NetworkHost.REPLICAS.forEach(host -> testbed.moveClock(host, Duration.ZERO));
          testbed.awaitAll();
        });
  }

  /** Short ones are as likely as long ones: each doubling of the length has the same share. */
  private static int length(Schedule schedule) {
    double share = schedule.below(1000) / 1000.0;
    return (int) (SHORTEST_MILLIS * Math.pow((double) LONGEST_MILLIS / SHORTEST_MILLIS, share));
  }

  private static NetworkHost replica(Schedule schedule) {
    return NetworkHost.REPLICAS.get(schedule.below(FaultTestbed.REPLICAS));
  }

  private static NetworkHost redis(Schedule schedule) {
    return NetworkHost.REDIS.get(schedule.below(NetworkHost.REDIS.size()));
  }

  /** A replica and a sentinel stay with the primary; the others vote for another one. */
  private static void isolatePrimary(Schedule schedule, long at, int length) {
    int replica = schedule.below(FaultTestbed.REPLICAS);
    schedule.at(
        at,
        "drop everything between the primary with replica " + replica + ", and all others",
        testbed -> testbed.isolatePrimary(replica));
    schedule.endAt(at + length, "drop nothing", FaultTestbed::heal);
  }

  /** Cuts both ways or one way. */
  private static void cut(
      Schedule schedule, long at, int length, List<NetworkHost> these, List<NetworkHost> those) {
    switch (schedule.below(3)) {
      case 0 -> {
        String what = "drop what " + these + " send to " + those;
        schedule.at(at, what, testbed -> testbed.cut(these, those));
      }
      case 1 -> {
        String what = "drop what " + those + " send to " + these;
        schedule.at(at, what, testbed -> testbed.cut(those, these));
      }
      default -> {
        String what = "drop everything between " + these + " and " + those;
        schedule.at(at, what, testbed -> testbed.cutBothWays(these, those));
      }
    }
    schedule.endAt(at + length, "drop nothing", FaultTestbed::heal);
  }

  private static void freezeReplica(Schedule schedule, long at, int length) {
    int replica = schedule.below(FaultTestbed.REPLICAS);
    schedule.at(at, "freeze replica " + replica, testbed -> testbed.replica(replica).freeze());
    schedule.endAt(
        at + length, "thaw replica " + replica, testbed -> testbed.replica(replica).thaw());
  }

  private static void freezePrimary(Schedule schedule, long at, int length) {
    AtomicReference<RedisFixture> frozen = new AtomicReference<>();
    schedule.at(
        at,
        "freeze the primary",
        testbed -> {
          frozen.set(testbed.sentinels().primary());
          frozen.get().freeze();
        });
    schedule.endAt(at + length, "thaw it", testbed -> frozen.get().thaw());
  }
}
