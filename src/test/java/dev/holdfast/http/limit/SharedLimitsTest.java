package dev.holdfast.http.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.LoggedLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Three replicas that exchange once a second, with a clock that the tests move. */
class SharedLimitsTest {

  private static final Client ALICE = new Client("key alice", true);
  private static final Client BOB = new Client("key bob", true);
  private static final int LIMIT = 40;
  private static final int SECONDS = 20;
  private static final int STEPS_OF_A_SECOND = 100;

  private final AtomicLong now = new AtomicLong();

  /** What each replica has published last. */
  private final Map<Replica, Map<String, ClientUse>> published = new HashMap<>();

  private final List<Replica> replicas =
      new ArrayList<>(List.of(new Replica(), new Replica(), new Replica()));

  private final class Replica implements UseExchange {

    final ClientLimit held = new ClientLimit("held", () -> LIMIT);
    final RequestRate rate = new RequestRate(() -> OptionalInt.of(LIMIT), now::get);
    final SharedLimits shared =
        new SharedLimits(List.of(held, rate.perClient()), this, () -> replicas.size());

    @Override
    public Map<String, ClientUse> exchange(Map<String, ClientUse> own) {
      published.put(this, own);
      Map<String, ClientUse> others = new HashMap<>();
      published.forEach((replica, uses) -> {
        if (replica != this) {
          uses.forEach((key, use) -> others.merge(key, use, ClientUse::plus));
        }
      });
      return others;
    }

    Map<String, ClientUse> told() {
      return published.getOrDefault(this, Map.of());
    }

    int take(int units) {
      int taken = 0;
      for (int i = 0; i < units; i++) {
        taken += held.tryTake(ALICE) ? 1 : 0;
      }
      return taken;
    }

    void giveBack(int units) {
      for (int i = 0; i < units; i++) {
        held.giveBack(ALICE);
      }
    }
  }

  private void exchange() {
    replicas.forEach(each -> each.shared.exchange());
  }

  /**
   * Lets a client send for {@value #SECONDS} seconds, and the replicas exchange one after the other
   * within each second.
   *
   * @param perStep requests to each replica in a hundredth of a second
   * @return the admitted requests
   */
  private int send(Client client, int... perStep) {
    int admitted = 0;
    for (int step = 0; step < SECONDS * STEPS_OF_A_SECOND; step++) {
      now.addAndGet(Duration.ofSeconds(1).toNanos() / STEPS_OF_A_SECOND);
      for (int i = 0; i < perStep.length; i++) {
        for (int request = 0; request < perStep[i]; request++) {
          admitted += replicas.get(i).rate.tryTake(client) ? 1 : 0;
        }
        if (step % STEPS_OF_A_SECOND == 10 * i) {
          replicas.get(i).shared.exchange();
        }
      }
    }
    return admitted;
  }

  /** The limit of each second, and what each replica gives before it has heard of the others. */
  private static void assertIsOneLimit(int admitted) {
    assertThat(admitted).isBetween(LIMIT * SECONDS * 9 / 10, LIMIT * SECONDS + 2 * 3 * LIMIT);
  }

  @Test
  void shouldGiveOneRateToAClientThatAsksAllReplicas() {
    assertIsOneLimit(send(ALICE, 4, 4, 4));
  }

  @Test
  void shouldGiveOneRateToAClientThatAsksSomeReplicasMore() {
    assertIsOneLimit(send(ALICE, 30, 1, 0));
  }

  @Test
  void shouldGiveTheWholeRateToAClientThatAsksOneReplica() {
    assertIsOneLimit(send(ALICE, 4, 0, 0));
  }

  @Test
  void shouldLeaveOtherClientsTheirRate() {
    send(ALICE, 4, 4, 4);

    assertIsOneLimit(send(BOB, 2, 0, 0));
  }

  /** It once had a share of less than one token, and got none for ever. */
  @Test
  void withALimitBelowTheReplicasShouldAdmitSome() {
    RequestRate slow = new RequestRate(() -> OptionalInt.of(1), now::get);
    slow.perClient().restrict(Map.of(ALICE, 0.25));

    int admitted = 0;
    for (int second = 0; second < 40; second++) {
      now.addAndGet(Duration.ofSeconds(1).toNanos());
      admitted += slow.tryTake(ALICE) ? 1 : 0;
    }

    assertThat(admitted).isEqualTo(10);
  }

  @Test
  void shouldCountWhatIsHeldElsewhere() {
    assertThat(replicas.get(0).take(LIMIT - 10)).isEqualTo(LIMIT - 10);
    assertThat(replicas.get(1).take(6)).isEqualTo(6);
    exchange();
    exchange();

    assertThat(replicas.get(1).take(LIMIT)).isEqualTo(4);
    assertThat(replicas.get(1).held.tryTake(BOB)).isTrue();

    replicas.get(0).giveBack(LIMIT - 10);
    exchange();
    exchange();
    assertThat(replicas.get(1).take(LIMIT)).isEqualTo(LIMIT - 10);
  }

  /** A client that has returned its only unit to one replica may come to another at once. */
  @Test
  void shouldGiveTheFirstUnitOfEachReplica() {
    replicas.get(0).take(LIMIT);
    replicas.get(1).take(LIMIT);
    exchange();
    exchange();
    replicas.get(1).giveBack(LIMIT);

    assertThat(replicas.get(1).take(LIMIT)).isEqualTo(1);
  }

  /** All took the limit each, whenever they heard at the same time that others had nothing. */
  @Test
  void shouldNotGiveTheLimitAgainOnEachReplicaWhenAllUnitsReturnAtOnce() {
    List<Integer> totals = new ArrayList<>();
    for (int second = 0; second < SECONDS; second++) {
      int[] taken = replicas.stream().mapToInt(each -> each.take(2 * LIMIT)).toArray();
      exchange();
      for (int i = 0; i < taken.length; i++) {
        taken[i] += replicas.get(i).take(2 * LIMIT);
        replicas.get(i).giveBack(taken[i]);
      }
      totals.add(IntStream.of(taken).sum());
    }

    assertThat(totals.getFirst()).isEqualTo(3 * LIMIT);
    assertThat(totals.subList(1, SECONDS)).allMatch(total -> total <= LIMIT + replicas.size());
  }

  @Test
  void shouldGiveTheShareOfALostReplicaBack() {
    replicas.get(0).take(LIMIT);
    exchange();
    replicas.get(1).take(LIMIT);
    exchange();
    replicas.get(1).giveBack(LIMIT);
    published.remove(replicas.removeFirst());
    exchange();
    exchange();

    assertThat(replicas.get(0).take(LIMIT)).isEqualTo(LIMIT);
  }

  @Test
  void withoutOthersShouldCountAloneAndTellNothing() {
    replicas.get(0).take(LIMIT);
    replicas.get(1).take(LIMIT);
    exchange();
    exchange();
    replicas.get(1).giveBack(LIMIT);
    replicas.removeLast();
    replicas.removeFirst();
    exchange();

    Replica alone = replicas.getFirst();
    assertThat(alone.take(2 * LIMIT)).isEqualTo(LIMIT);
    assertThat(alone.told()).isEmpty();
  }

  @Test
  void shouldTellOnlyOfClientsThatWantAGoodPartOfTheirLimit() {
    int little = LIMIT / replicas.size() / SharedLimits.PARTS;
    replicas.getFirst().take(little);
    exchange();
    assertThat(replicas.getFirst().told()).isEmpty();

    replicas.getFirst().take(1);
    exchange();
    assertThat(replicas.getFirst().told().values())
        .containsExactly(new ClientUse(little + 1, little + 1));
  }

  @Test
  void shouldTellOfABoundedNumberOfClients() {
    ClientLimit held = replicas.getFirst().held;
    for (int i = 0; i < SharedLimits.MAX_USES + 10; i++) {
      Client client = new Client("key " + i, true);
      for (int units = 0; units < (i % 100 == 0 ? 20 : 10); units++) {
        held.tryTake(client);
      }
    }
    exchange();

    Map<String, ClientUse> told = replicas.getFirst().told();
    assertThat(told).hasSize(SharedLimits.MAX_USES);
    assertThat(told).containsValue(new ClientUse(20, 20));
    assertThat(told.keySet()).allMatch(key -> key.matches("[\\w-]{11}"));
  }

  @Test
  void shouldCountABoundedNumberOfRefusedClients() {
    RequestRate rate = replicas.getFirst().rate;
    exchange();
    for (int i = 0; i < ClientLimit.MAX_CLIENTS + 10; i++) {
      rate.tryTake(new Client("key " + i, true));
    }

    assertThat(rate.perClient().takeUse(0)).hasSize(ClientLimit.MAX_CLIENTS);
  }

  @Test
  void shouldCountAloneAfterAnUnexpectedFailure() {
    UseExchange broken =
        _ -> {
          throw new IllegalStateException("broken");
        };
    ClientLimit limit = new ClientLimit("held", () -> 2);
    limit.restrict(Map.of(ALICE, 0.0));

    try (LoggedLines log = new LoggedLines("dev.holdfast");
        SharedLimits shared = new SharedLimits(List.of(limit), broken, () -> 2)) {
      shared.start();
      log.await("exchange of limits failed unexpectedly");

      assertThat(limit.share(ALICE)).isEqualTo(2);
    }
  }
}
