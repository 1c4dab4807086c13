package dev.holdfast.relay.failover;

import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.RelayFixture;
import dev.holdfast.relay.pump.UpstreamErrors;
import dev.holdfast.session.Session;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OrphanedStreamsTest {

  private final RelayFixture fixture = new RelayFixture();
  private final Session session = fixture.open(SCRIPTED);
  private final Found found = new Found();
  private final OrphanedStreams orphans =
      fixture.orphans(found, fixture.takeOver(found), List.of(new LogKey(session.id().value())));
  private final Reconciler reconciler =
      new Reconciler(
          List.of(new Reconciler.Check("orphaned streams", orphans::reclaim)), () -> true);

  /** The result of each look, and the streams that were reclaimed. */
  private final class Found implements SharedLog {
    final Deque<Map<StreamRef, String>> looks = new ArrayDeque<>();
    final List<Collection<LogKey>> lookedAt = new ArrayList<>();
    final List<String> adopted = new CopyOnWriteArrayList<>();

    @Override
    public List<SharedLog.AdoptedStream> adopt(LogKey id, String former) {
      throw new AssertionError("nobody was lost");
    }

    @Override
    public Map<StreamRef, String> findOrphaned(Collection<LogKey> sessions) {
      lookedAt.add(sessions);
      Map<StreamRef, String> next = looks.poll();
      if (next == null) {
        throw new LogException.StoreUnavailable("the store is away", null);
      }
      return next;
    }

    @Override
    public List<SharedLog.AdoptedStream> reclaim(LogKey id, Set<String> names) {
      adopted.addAll(names);
      return names.stream()
          .map(name ->
              new SharedLog.AdoptedStream(
                  fixture.log.open(new StreamRef(id, name), "1"), "1", null))
          .toList();
    }

    @Override
    public Set<StreamRef> findTakenOver(Collection<StreamRef> streams) {
      return Set.of();
    }
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private StreamRef ref(String name) {
    return new StreamRef(new LogKey(session.id().value()), name);
  }

  @Test
  void shouldReclaimAStreamThatIsFoundTwiceWithTheSameOwner() {
    found.looks.add(Map.of(ref("lost"), "me 1", ref("opened"), "me 2", ref("taken"), "me 3"));
    found.looks.add(Map.of(ref("lost"), "me 1", ref("taken"), "me 4", ref("new"), "me 5"));

    orphans.reclaim(_ -> true);

    assertThat(found.adopted).containsExactly("lost");
    await().until(() -> payloads(readAll(fixture.log, ref("lost"), Position.START)).size() == 1);
    assertThat(payloads(readAll(fixture.log, ref("lost"), Position.START)).getFirst())
        .contains("\"id\":1", UpstreamErrors.REPLICA_LOST);
  }

  @Test
  void shouldLookOnceWhenNothingIsFound() {
    found.looks.add(Map.of());

    orphans.reclaim(_ -> true);

    assertThat(found.lookedAt).containsExactly(List.of(new LogKey(session.id().value())));
  }

  @Test
  void shouldRetryAfterALookThatFailed() {
    reconciler.reconcileSoon();
    await().until(() -> !found.lookedAt.isEmpty());
    found.looks.add(Map.of(ref("lost"), "me 1"));
    found.looks.add(Map.of(ref("lost"), "me 1"));

    await()
        .until(() -> {
          reconciler.reconcileSoon();
          return found.adopted.contains("lost");
        });
  }

  @Test
  void shouldReclaimNothingWhileDraining() {
    found.looks.add(Map.of(ref("lost"), "me 1"));
    found.looks.add(Map.of(ref("lost"), "me 1"));
    fixture.drain(null).run();

    orphans.reclaim(_ -> true);

    assertThat(found.adopted).isEmpty();
  }
}
