package dev.holdfast.faults;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * A row of the table in docs/faults.md: what is injected into what, and what is promised.
 *
 * @param name of the report, in {@code target/faults}
 * @param ids whether the server's events have ids, so that a call can go on elsewhere
 * @param layout which processes there are, and where
 * @param probed whether the balancer passes over replicas that are not ready
 * @param sessions whether clients open sessions
 * @param settings of the replicas
 * @param promise what must hold
 */
record Scenario(
    String name,
    boolean ids,
    Layout layout,
    boolean probed,
    boolean sessions,
    Map<String, String> settings,
    Load load,
    Schedule schedule,
    Promise promise) {

  /** Which processes there are beside the replicas and the server, and where all of them run. */
  enum Layout {
    /** A Redis that keeps nothing when it is killed, and all on this machine. */
    ONE_REDIS,
    /** A Redis that keeps its data when it is killed, and all on this machine. */
    DURABLE_REDIS,
    /** A primary with two replicas and three sentinels, and each on a host of its own. */
    HOSTS,
    /** The same, and the clocks of the replicas can be moved. */
    CLOCKS
  }

  /**
   * What must hold, beyond that nothing is lost, twice, or hangs.
   *
   * @param whole whether every call must bring its result; else errors will do
   * @param kept whether every session and event must be kept; else 404 and 410 will do
   * @param silence the longest that a client may hear nothing; zero for until it gives up
   */
  record Promise(boolean whole, boolean kept, Duration silence) {}

  Scenario {
    settings = Map.copyOf(settings);
  }

  /** Whether both can run on the same Redis, server and replicas, one after the other. */
  boolean hasSameReplicas(Scenario other) {
    return ids == other.ids && layout == other.layout && settings.equals(other.settings);
  }

  /** Whether each program runs on a host of its own. */
  boolean hasHosts() {
    return layout == Layout.HOSTS || layout == Layout.CLOCKS;
  }

  /** Promises all, with the usual load. */
  static Scenario of(String name, Schedule schedule) {
    return new Scenario(
        name,
        true,
        Layout.ONE_REDIS,
        false,
        true,
        Map.of(),
        Load.usual(),
        schedule,
        new Promise(true, true, Duration.ZERO));
  }

  Scenario withoutIds() {
    return new Scenario(name, false, layout, probed, sessions, settings, load, schedule, promise);
  }

  Scenario withDurableRedis() {
    return new Scenario(
        name, ids, Layout.DURABLE_REDIS, probed, sessions, settings, load, schedule, promise);
  }

  Scenario onHosts() {
    return new Scenario(
        name, ids, Layout.HOSTS, probed, sessions, settings, load, schedule, promise);
  }

  Scenario onHostsWithClocks() {
    return new Scenario(
        name, ids, Layout.CLOCKS, probed, sessions, settings, load, schedule, promise);
  }

  Scenario withProbes() {
    return new Scenario(name, ids, layout, true, sessions, settings, load, schedule, promise);
  }

  /** Clients of 2026-07-28, which get ids of events all the same. */
  Scenario withoutSessions() {
    return new Scenario(name, ids, layout, probed, false, settings, load, schedule, promise)
        .with("holdfast.eras.event-ids", "true");
  }

  Scenario with(String key, String value) {
    Map<String, String> more = new HashMap<>(settings);
    more.put(key, value);
    return new Scenario(name, ids, layout, probed, sessions, more, load, schedule, promise);
  }

  Scenario under(Load other) {
    return new Scenario(name, ids, layout, probed, sessions, settings, other, schedule, promise);
  }

  /** A call may end with an error. */
  Scenario orErrors() {
    return promising(new Promise(false, promise.kept, promise.silence));
  }

  /** A session, or what it has not seen yet, may be gone, if only that is said. */
  Scenario orGone() {
    return promising(new Promise(promise.whole, false, promise.silence));
  }

  Scenario silentFor(int seconds) {
    return promising(new Promise(promise.whole, promise.kept, Duration.ofSeconds(seconds)));
  }

  private Scenario promising(Promise other) {
    return new Scenario(name, ids, layout, probed, sessions, settings, load, schedule, other);
  }
}
