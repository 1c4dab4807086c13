package dev.holdfast.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.merge.Offer.Item;
import dev.holdfast.merge.Offer.Kind;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CatalogTest {

  private static final List<String> SERVERS = List.of("a", "b");

  private final List<String> changes = new CopyOnWriteArrayList<>();
  private final AtomicInteger reads = new AtomicInteger();

  private Catalog catalog(long bytes) {
    return catalog(new ByteBudget(bytes));
  }

  private Catalog catalog(ByteBudget budget) {
    return new Catalog(
        MergeFixture.settings(MergeSettings.Naming.PREFIX, Duration.ofMillis(200)),
        budget,
        (kind, server) -> changes.add(kind + " " + server));
  }

  /** A server that cannot be reached. */
  private static Offer away(String server, @Nullable Offer before) {
    throw new UpstreamException.Unreachable(null);
  }

  /** Reads all servers, and one again that has told of a change. */
  private Names namesAfterAChange(Catalog.Reader second) {
    Catalog catalog = catalog(1 << 20);
    Names _ = catalog.names("", SERVERS, (server, _) -> read(server));
    catalog.changed("b");
    return catalog.names("", SERVERS, second);
  }

  private static Offer offer(String tool) {
    return new Offer(
        "{\"tools\":{}}",
        null,
        false,
        Map.of(Kind.TOOL, List.of(new Item(tool, "{\"name\":\"" + tool + "\"}"))));
  }

  private Offer read(String server) {
    reads.incrementAndGet();
    return offer("of_" + server);
  }

  @Test
  void shouldReadTheListsOfServersOnce() {
    Catalog catalog = catalog(1 << 20);

    Names first = catalog.names("", SERVERS, (server, _) -> read(server));
    Names second = catalog.names("", SERVERS, (server, _) -> read(server));

    assertThat(first.find(Kind.TOOL, "a__of_a")).isPresent();
    assertThat(first.find(Kind.TOOL, "b__of_b")).isPresent();
    assertThat(second).isSameAs(first);
    assertThat(reads).hasValue(2);
    assertThat(changes).isEmpty();
  }

  @Test
  void shouldWaitOnceForASlowServer() {
    Catalog catalog = catalog(1 << 20);
    CountDownLatch thaw = new CountDownLatch(1);
    Catalog.Reader slow =
        (server, _) -> {
          if (server.equals("b")) {
            awaitUninterruptibly(thaw);
          }
          return read(server);
        };

    Names before = catalog.names("x", SERVERS, slow);
    for (int i = 0; i < 100; i++) {
      assertThat(catalog.names("x", SERVERS, slow).problems()).containsOnlyKeys("b");
    }
    assertThat(before.find(Kind.TOOL, "a__of_a")).isPresent();
    assertThat(reads).hasValue(1);
    thaw.countDown();

    await().untilAsserted(() -> assertThat(changes).containsExactly("x b"));
    Names after = catalog.names("x", SERVERS, slow);
    assertThat(after.problems()).isEmpty();
    assertThat(after.find(Kind.TOOL, "b__of_b")).isPresent();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldKeepWhatAServerOfferedWhenItFails() {
    Names names = namesAfterAChange(CatalogTest::away);

    assertThat(names.find(Kind.TOOL, "b__of_b")).isPresent();
    assertThat(names.problems()).containsOnlyKeys("b");
  }

  @Test
  void shouldReadAgainAfterAChange() {
    Names names =
        namesAfterAChange((server, before) -> {
          assertThat(server).isEqualTo("b");
          assertThat(before).isEqualTo(offer("of_b"));
          return offer("new");
        });

    assertThat(names.find(Kind.TOOL, "b__new")).isPresent();
    assertThat(names.find(Kind.TOOL, "b__of_b")).isEmpty();
  }

  @Test
  void shouldLogWhatClientsDoNotGet() {
    try (LoggedLines lines = new LoggedLines(Catalog.class)) {
      lines.awaitRepeating(
          "names of an endpoint dropped endpoint=default names=[tool a__b__c: it could be of a or",
          () -> {
            Names _ =
                catalog(1 << 20)
                    .names(
                        "",
                        List.of("a", "a__b"),
                        (server, _) -> offer(server.equals("a") ? "b__c" : "c"));
          });
      lines.awaitRepeating(
          "lists of a server not read endpoint=default upstream=a reason=the upstream cannot be",
          () -> {
            Names _ = catalog(1 << 20).names("", SERVERS, CatalogTest::away);
          });
    }
  }

  @Test
  void shouldReadAgainAfterAChangeWhileItReads() {
    Catalog catalog = catalog(1 << 20);
    Names _ =
        catalog.names(
            "",
            SERVERS,
            (server, _) -> {
              catalog.changed(server);
              return read(server);
            });

    Names names = catalog.names("", SERVERS, (_, _) -> offer("new"));

    assertThat(names.find(Kind.TOOL, "a__new")).isPresent();
    assertThat(names.find(Kind.TOOL, "b__new")).isPresent();
  }

  @Test
  void shouldNotWaitForAnotherAttempt() {
    Catalog catalog = catalog(1 << 20);
    AtomicInteger attempts = new AtomicInteger();
    Catalog.Reader failing =
        (server, _) -> {
          if (server.equals("b")) {
            attempts.incrementAndGet();
            throw new UpstreamException.Unreachable(null);
          }
          return read(server);
        };
    for (int i = 0; i < 100; i++) {
      assertThat(catalog.names("", SERVERS, failing).problems()).containsOnlyKeys("b");
    }

    assertThat(attempts).hasValue(1);
    assertThat(reads).hasValue(1);
  }

  @Test
  void shouldForgetOtherCallersWhenMemoryIsShort() {
    Catalog catalog = catalog(1);
    Names _ = catalog.names("first", SERVERS, (server, _) -> read(server));
    Names _ = catalog.names("second", SERVERS, (server, _) -> read(server));

    assertThat(catalog.known("first")).isNull();
    assertThat(catalog.known("second")).isNotNull();
    Names again = catalog.names("first", SERVERS, (server, _) -> read(server));
    assertThat(again.find(Kind.TOOL, "a__of_a")).isPresent();
    assertThat(reads).hasValue(6);
  }

  @Test
  void shouldGiveBackTheMemoryOfListsThatNobodyAsksForAnyMore() {
    ByteBudget budget = new ByteBudget(1);
    Catalog catalog = catalog(budget);
    CountDownLatch thaw = new CountDownLatch(1);
    Names _ =
        catalog.names(
            "first",
            SERVERS,
            (server, _) -> {
              if (server.equals("b")) {
                awaitUninterruptibly(thaw);
              }
              return read(server);
            });
    Names _ = catalog.names("second", SERVERS, (server, _) -> read(server));
    thaw.countDown();

    await()
        .during(Duration.ofMillis(300))
        .until(() ->
            reads.get() == 4 && budget.taken() == offer("of_a").bytes() + offer("of_b").bytes());
  }
}
