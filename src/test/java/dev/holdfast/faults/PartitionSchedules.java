package dev.holdfast.faults;

import java.util.ArrayList;
import java.util.List;

/** Schedules of what befalls {@link NetworkHost hosts}: partitions, and frozen processes. */
final class PartitionSchedules {

  private static final int SHORTEST_MILLIS = 1000;

  /** In a short run, longer than a sentinel and a replica need to find another one dead. */
  private static final int LONGEST_MILLIS = Load.LONG ? 120_000 : 4500;

  private static final int APART = 1500;

  /** One of the faults. */
  private interface Blow {
    /** Adds it at a time, for so long. */
    void at(Schedule schedule, long millis, int length);
  }

  private static final List<Blow> BLOWS =
      List.of(
          (schedule, at, length) ->
              cut(schedule, at, length, List.of(replica(schedule)), List.of(redis(schedule))),
          (schedule, at, length) ->
              cut(schedule, at, length, List.of(replica(schedule)), NetworkHost.REDIS),
          (schedule, at, length) ->
              cut(schedule, at, length, List.of(replica(schedule)), List.of(NetworkHost.SERVER)),
          (schedule, at, length) ->
              cut(schedule, at, length, List.of(replica(schedule)), List.of(NetworkHost.CLIENTS)),
          (schedule, at, length) ->
              cut(schedule, at, length, NetworkHost.REPLICAS, List.of(NetworkHost.SERVER)),
          PartitionSchedules::minority,
          PartitionSchedules::minority,
          PartitionSchedules::freezeReplica,
          PartitionSchedules::freezeRedis);

  private PartitionSchedules() {}

  /** All kinds in turn, each time in another order. At last all replicas are ready again. */
  static Schedule of(Load load) {
    Schedule schedule = new Schedule(FaultSchedules.SEED);
    long span = load.span().toMillis();
    long at = 1000;
    while (at < span) {
      for (Blow blow : schedule.shuffled(BLOWS)) {
        int length = length(schedule);
        if (at < span) {
          blow.at(schedule, at, length);
        }
        at += length + schedule.below(APART);
      }
    }
    return schedule.endAt(Math.max(at, span), "await all replicas", FaultTestbed::awaitAll);
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

  /** A replica stays with one server of Redis and its sentinel, and the others with the others. */
  private static void minority(Schedule schedule, long at, int length) {
    List<NetworkHost> few = List.of(redis(schedule), replica(schedule));
    List<NetworkHost> many = new ArrayList<>(NetworkHost.REDIS);
    many.addAll(NetworkHost.REPLICAS);
    many.removeAll(few);
    cut(schedule, at, length, few, many);
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

  private static void freezeRedis(Schedule schedule, long at, int length) {
    int server = schedule.below(NetworkHost.REDIS.size());
    schedule.at(
        at, "freeze redis " + server, testbed -> testbed.sentinels().server(server).freeze());
    schedule.endAt(
        at + length, "thaw redis " + server, testbed -> testbed.sentinels().server(server).thaw());
  }
}
