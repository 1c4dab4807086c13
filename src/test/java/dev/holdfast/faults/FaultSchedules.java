package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.faults.server.ServerFault;
import dev.holdfast.resume.RandomCuts;
import dev.holdfast.testing.Fault;
import dev.holdfast.testing.Fault.Trigger;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.LongRun;
import java.util.EnumSet;
import java.util.List;

/** Schedules: which faults come when. */
final class FaultSchedules {

  static final long SEED = Long.getLong("holdfast.seed", 20_251_125L);
  private static final long SPAN = Load.usual().span().toMillis();

  /** How much later the next one begins than the one before has ended. */
  private static final int APART = 1500;

  /** Somewhat more than a start takes where two processors do everything. */
  private static final long NEXT_STOP = LongRun.REQUESTED ? 5000 : 3000;

  private static final int STOPPED_SECONDS = 40;

  /** An answer is cut within so many. */
  private static final int EVENTS = LongRun.REQUESTED ? 60 : 30;

  private static final List<ServerFault> TROUBLES =
      List.copyOf(EnumSet.complementOf(EnumSet.of(ServerFault.NONE, ServerFault.OVERSIZED)));

  /** One of the faults of a chaos. */
  private interface Blow {
    /** Adds it at a time; returns when it is over. */
    long at(Schedule schedule, long millis);
  }

  private FaultSchedules() {}

  /** One replica after the other is killed and started again. */
  static Schedule killLoop() {
    Schedule schedule = new Schedule(SEED);
    int victim = schedule.below(FaultTestbed.REPLICAS);
    for (long at = 1000; at < SPAN; at += 3000) {
      kill(schedule, at, victim);
      // Never the same twice: it would not have taken over anything yet.
      victim = (victim + 1 + schedule.below(FaultTestbed.REPLICAS - 1)) % FaultTestbed.REPLICAS;
    }
    return schedule;
  }

  private static void kill(Schedule schedule, long at, int replica) {
    schedule.at(
        at,
        "kill -9 replica " + replica + ", and start it again",
        testbed -> {
          testbed.replica(replica).kill();
          testbed.restart(replica);
        });
  }

  /**
   * One replica after the other is stopped in order and started again, as in a rolling deploy: the
   * next one not before that is ready.
   */
  static Schedule rollingStops() {
    Schedule schedule = new Schedule(SEED);
    int first = schedule.below(FaultTestbed.REPLICAS);
    for (int i = 0; 1000 + i * NEXT_STOP < SPAN; i++) {
      int replica = (first + i) % FaultTestbed.REPLICAS;
      schedule.at(
          1000 + i * NEXT_STOP,
          "SIGTERM to replica " + replica + ", and start it again",
          testbed -> {
            testbed.replica(replica).terminate();
            assertThat(testbed.replica(replica).awaitEnd(STOPPED_SECONDS)).as("stopped").isTrue();
            testbed.restart(replica);
            testbed.awaitReady(replica);
          });
    }
    return schedule;
  }

  /** Now one, now another replica is frozen; some for so long that they are replaced. */
  static Schedule freezeLoop() {
    Schedule schedule = new Schedule(SEED);
    for (long at = 1000; at < SPAN; ) {
      at =
          freeze(schedule, at, schedule.below(FaultTestbed.REPLICAS), 1000 + schedule.below(5000))
              + APART;
    }
    return schedule;
  }

  private static long freeze(Schedule schedule, long at, int replica, int millis) {
    schedule.at(at, "freeze replica " + replica, testbed -> testbed.replica(replica).freeze());
    schedule.endAt(
        at + millis, "thaw replica " + replica, testbed -> testbed.replica(replica).thaw());
    return at + millis;
  }

  /** Redis is killed and started again. */
  static Schedule redisRestarts(int every) {
    Schedule schedule = moved();
    for (long at = 1500; at < SPAN; at += every) {
      schedule.at(at, "kill -9 Redis, and start it again", testbed -> testbed.redis().restart());
    }
    return schedule;
  }

  /** Redis is frozen for two seconds. */
  static Schedule redisFreezes() {
    Schedule schedule = moved();
    for (long at = 1500; at < SPAN; at += 5000) {
      freezeRedis(schedule, at, 2000);
    }
    return schedule;
  }

  private static long freezeRedis(Schedule schedule, long at, int millis) {
    schedule.at(at, "freeze Redis", testbed -> testbed.redis().freeze());
    schedule.endAt(at + millis, "thaw Redis", testbed -> testbed.redis().thaw());
    return at + millis;
  }

  /** Answers are cut anywhere, and every so often all connections of clients at once. */
  static Schedule cuts() {
    Schedule schedule = new Schedule(SEED);
    schedule.at(
        0,
        "cut answers at random",
        testbed -> testbed.network().plan(new RandomCuts(SEED, EVENTS)));
    for (long at = 500; at < SPAN; at += 300 + schedule.below(1200)) {
      cut(schedule, at);
    }
    schedule.endAt(
        SPAN, "cut no more", testbed -> testbed.network().plan(exchange -> Fault.none()));
    return schedule;
  }

  private static void cut(Schedule schedule, long at) {
    schedule.at(at, "reset all connections of clients", testbed -> testbed.network().cutAll());
  }

  /** The connections on which replicas are woken are cut again and again. */
  static Schedule subscriptionKills() {
    Schedule schedule = moved();
    for (long at = 500; at < SPAN; at += 100 + schedule.below(200)) {
      killSubscriptions(schedule, at);
    }
    return schedule;
  }

  /**
   * The first answer to each call is cut before its first message. So calls are followed at another
   * replica than that which runs them.
   */
  private static Schedule moved() {
    FaultProxy.Plan plan =
        exchange ->
            exchange.calls("tools/call") ? Fault.finish(Trigger.afterEvents(1)) : Fault.none();
    return new Schedule(SEED)
        .at(0, "cut the first answer to each call", testbed -> testbed.network().plan(plan));
  }

  private static void killSubscriptions(Schedule schedule, long at) {
    schedule.at(
        at,
        "CLIENT KILL TYPE pubsub",
        testbed -> testbed.redis().command("CLIENT", "KILL", "TYPE", "pubsub"));
  }

  /** The server is in trouble for a while, again and again. */
  static Schedule serverIs(ServerFault trouble, int millis) {
    Schedule schedule = new Schedule(SEED);
    for (long at = 1000; at + millis < SPAN; ) {
      at = be(schedule, at, trouble, millis) + APART;
    }
    return schedule;
  }

  private static long be(Schedule schedule, long at, ServerFault trouble, int millis) {
    schedule.at(at, "server: " + trouble, testbed -> testbed.server().be(trouble));
    schedule.endAt(
        at + millis,
        "server: " + ServerFault.NONE,
        testbed -> testbed.server().be(ServerFault.NONE));
    return at + millis;
  }

  /** Everything, one after the other, each time in another order. */
  static Schedule chaos(Load load) {
    Schedule schedule = new Schedule(SEED);
    long at = 1000;
    while (at < load.span().toMillis()) {
      for (Blow blow : schedule.shuffled(BLOWS)) {
        at = blow.at(schedule, at) + schedule.below(APART);
      }
    }
    return schedule;
  }

  private static final List<Blow> BLOWS =
      List.of(
          (schedule, at) -> {
            kill(schedule, at, schedule.below(FaultTestbed.REPLICAS));
            return at;
          },
          (schedule, at) ->
              freeze(
                  schedule, at, schedule.below(FaultTestbed.REPLICAS), 500 + schedule.below(4000)),
          (schedule, at) -> freezeRedis(schedule, at, 200 + schedule.below(2000)),
          (schedule, at) -> {
            schedule.at(
                at, "kill -9 Redis, and start it again", testbed -> testbed.redis().restart());
            return at;
          },
          (schedule, at) -> {
            cut(schedule, at);
            return at;
          },
          (schedule, at) -> {
            killSubscriptions(schedule, at);
            return at;
          },
          (schedule, at) -> {
            schedule.at(at, "FLUSHALL", testbed -> testbed.redis().command("FLUSHALL"));
            return at;
          },
          (schedule, at) -> {
            ServerFault trouble = TROUBLES.get(schedule.below(TROUBLES.size()));
            return be(schedule, at, trouble, 200 + schedule.below(2500));
          });
}
