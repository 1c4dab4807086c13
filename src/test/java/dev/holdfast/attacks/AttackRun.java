package dev.holdfast.attacks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.attacks.AttackTestbed.Store;
import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs attacks against a gateway while other clients call a tool, and judges what they saw. */
final class AttackRun {

  /** Whether all attacks run, and nothing else. */
  private static final boolean LONG = "long".equals(System.getProperty("holdfast.attacks"));

  private static final int CALLS = LONG ? 300 : 150;

  /** By so much may the slowest calls of the others take longer. */
  private static final int FACTOR = 10;

  /** Until here, the slowest calls are a matter of the machine, which in a build has other work. */
  private static final double QUIET_MILLIS = LONG ? 25 : 250;

  /** The default of {@code holdfast.redis.max-bytes}. */
  private static final long QUOTA = 2L << 30;

  /** What doctor asks for: the allocator, sessions and buffers need memory, too. */
  private static final long REDIS_BYTES = QUOTA + QUOTA / 2;

  private static @Nullable AttackTestbed shared;

  private AttackRun() {}

  /**
   * What an attacker does. It returns when the others should be observed until they have called.
   * {@link AttackerProcess} gets it in serialized form, so it uses no variables around it.
   */
  interface Attack extends Serializable {
    void run(Attacker attacker) throws IOException, InterruptedException;
  }

  /** The stores to attack: in a build only Redis, which takes what memory takes, and more. */
  static List<Store> stores() {
    return LONG ? List.of(Store.values()) : List.of(Store.REDIS);
  }

  /** Stops the gateway, so that the next attack gets another one. */
  static void stop() {
    if (shared != null) {
      shared.close();
      shared = null;
    }
  }

  /** The gateway of the row before, unless that row used another store or killed it. */
  private static AttackTestbed testbed(Store store) {
    AttackTestbed last = shared;
    if (last != null && last.store() == store && last.isRunning()) {
      return last;
    }
    stop();
    AttackTestbed next = new AttackTestbed(store);
    shared = next;
    return next;
  }

  /** Runs an attack, prints its row, and checks that it harmed nobody. */
  static void assertHarmless(Store store, String name, String sent, Attack attack)
      throws IOException, InterruptedException {
    AttackTestbed testbed = testbed(store);
    AttackRow row;
    try (InnocentClients others = new InnocentClients(testbed.url());
        AttackerProcess attacker = AttackerProcess.start(testbed.url(), attack)) {
      others.observe(CALLS);
      InnocentClients.Figures before = others.observe(CALLS);
      long[] heap = {testbed.heap(), -1, -1};
      long[] redis = {testbed.redisBytes(), 0, 0};
      InnocentClients.Figures during;
      try (AttackTestbed.RedisPeak peak = testbed.observeRedis()) {
        others.begin();
        attacker.attack();
        during = others.awaitCalls(CALLS);
        redis[1] = peak.bytes();
      }
      heap[1] = testbed.heap();
      attacker.stop();
      others.observe(CALLS);
      redis[2] = testbed.redisBytes();
      heap[2] = testbed.heap();
      row = new AttackRow(name, store, sent, before, during, heap, redis);
    } catch (IOException failed) {
      throw new AssertionError(testbed.output(), failed);
    }
    System.out.println(row);
    assertThat(testbed.isRunning()).as(testbed.output()).isTrue();
    assertThat(row.during().errors()).as(testbed.output()).isEmpty();
    assertThat(testbed.output()).doesNotContain("OutOfMemoryError");
    assertThat(row.during().p99()).isLessThan(FACTOR * Math.max(QUIET_MILLIS, row.before().p99()));
    assertThat(row.redis()[1]).isLessThan(REDIS_BYTES);
  }
}
