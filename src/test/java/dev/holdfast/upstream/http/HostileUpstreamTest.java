package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.LINK;
import static dev.holdfast.upstream.http.UpstreamFixture.body;
import static dev.holdfast.upstream.http.UpstreamFixture.initialize;
import static dev.holdfast.upstream.http.UpstreamFixture.response;
import static dev.holdfast.upstream.http.UpstreamFixture.takeAll;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random answers of a hostile server. Each of them ends as an answer or as a failure of the
 * upstream, holds no memory afterwards, and leaves other sessions alone.
 *
 * <p>Repeat a run with {@code -Dholdfast.seed=…}; a longer one has {@code -Dholdfast.cases=…}.
 */
@Timeout(120)
class HostileUpstreamTest {

  private static final long SEED = Long.getLong("holdfast.seed", System.nanoTime());
  private static final int CASES = Integer.getInteger("holdfast.cases", 300);
  private static final int AT_A_TIME = 30;

  private static final int BUDGET = 8 << 20;

  /** A stream that never ends is closed after this time, as a client would. */
  private static final Duration PATIENCE = Duration.ofMillis(700);

  @FunctionalInterface
  private interface Script {
    void play(RawConnection wire) throws IOException;
  }

  /** Played instead of random answers unless null. */
  private volatile @Nullable Script unfinished;

  private final Vertx vertx = Vertx.vertx();
  private final AtomicLong next = new AtomicLong();
  private final ScriptedServer server = ScriptedServer.playing((_, wire) -> play(wire));
  private final ByteBudget budget = new ByteBudget(BUDGET);
  private final HttpClients clients = new HttpClients(vertx, settings(), budget);
  private final List<Upstream> upstreams =
      List.of(
          new HttpUpstream(clients, settings()),
          new LegacyUpstream(
              clients, UpstreamFixture.sessions(settings(), "hostile", 1000, false)));
  private final ScheduledExecutorService impatience = Executors.newScheduledThreadPool(1);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /** An innocent server behind the same threads and budget. */
  private final ScriptedServer innocentServer =
      ScriptedServer.playing((_, wire) -> wire.answer(200, "application/json", response(7)));

  private final HttpUpstreamSettings innocentSettings =
      UpstreamFixture.settings(innocentServer.url());
  private final HttpUpstream innocent =
      new HttpUpstream(new HttpClients(vertx, innocentSettings, budget), innocentSettings);

  private HttpUpstreamSettings settings() {
    return settings(Duration.ofMillis(500));
  }

  private HttpUpstreamSettings settings(Duration timeout) {
    return UpstreamFixture.settings(
        server.url(),
        Map.of(),
        Duration.ofSeconds(30),
        timeout,
        timeout,
        256 << 10,
        new HttpUpstreamSettings.Reconnection(Duration.ofMillis(20), 2, Duration.ZERO),
        1000);
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    impatience.shutdownNow();
    server.close();
    innocent.close();
    innocentServer.close();
    upstreams.forEach(Upstream::close);
    vertx.close();
  }

  private void play(RawConnection wire) throws IOException {
    Script script = unfinished;
    if (script != null) {
      script.play(wire);
    } else {
      HostileAnswer.play(SEED + next.incrementAndGet(), wire);
    }
  }

  @Test
  void shouldSurviveEveryAnswer() throws Exception {
    System.out.println("HostileUpstreamTest: -Dholdfast.seed=" + SEED);
    LoggedLines log = new LoggedLines("io.vertx");
    ExecutorService attackers = Executors.newFixedThreadPool(AT_A_TIME);
    List<Future<?>> attacks = new ArrayList<>();
    for (int i = 0; i < CASES; i++) {
      Random random = new Random(SEED - i);
      attacks.add(attackers.submit(() -> attack(random)));
    }
    attackers.shutdown();

    int served = 0;
    while (!attackers.awaitTermination(10, TimeUnit.MILLISECONDS)) {
      assertThat(texts(takeAll(askInnocently()))).as("seed %d", SEED).containsExactly(response(7));
      served++;
    }

    for (Future<?> attack : attacks) {
      attack.get(); // Throws what is no failure of an upstream.
    }
    assertThat(served).isPositive();
    log.close();
    assertThat(log.lines()).as("a flood of log lines, seed %d", SEED).isEmpty();
    await().alias("unused budget, seed " + SEED).until(this::isBudgetUnused);
  }

  /** The beginnings of large messages added up without bound. */
  @Test
  void shouldBoundUnfinishedMessagesOfAllStreams() throws Exception {
    // given
    String large = "data: " + "x".repeat(200_000);
    unfinished = wire -> wire.beginEvents().chunk(large).stall();
    List<Future<UpstreamException>> attacks = new ArrayList<>();
    UpstreamSession session =
        new HttpUpstream(clients, settings(Duration.ofSeconds(30))).attach(LINK);

    // when
    for (int i = 0; i < 3 * BUDGET / large.length(); i++) {
      attacks.add(threads.submit(() -> failureOf(session)));
    }

    // then
    await().until(() -> attacks.stream().filter(Future::isDone).count() >= attacks.size() / 2);
    assertThat(attacks)
        .filteredOn(Future::isDone)
        .allSatisfy(attack -> assertThat(attack.get()).hasMessageContaining("too large"));
    assertThat(texts(takeAll(askInnocently()))).containsExactly(response(7));
  }

  private UpstreamException failureOf(UpstreamSession session) {
    return catchThrowableOfType(
        UpstreamException.class, () -> takeAll(session.request(UpstreamFixture.call(1)).source()));
  }

  /** The server sends a message before it fails to answer {@code initialize}. */
  @Test
  void shouldGiveBackTheBytesOfAHandshakeThatFails() throws Exception {
    // given
    AtomicInteger connections = new AtomicInteger();
    CompletableFuture<Void> asked = new CompletableFuture<>();
    CompletableFuture<Void> received = new CompletableFuture<>();
    unfinished =
        wire -> {
          if (connections.incrementAndGet() == 1) {
            RawConnection events = wire.beginEvents().chunk("event: endpoint\ndata: /m\n\n");
            asked.join();
            String text =
                "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}"
                    .formatted("x".repeat(3 * (int) ByteBudget.UNCOUNTED));
            events.chunk("data: " + text).stall();
          } else {
            asked.complete(null);
            received.join();
            wire.close();
          }
        };
    Upstream patient =
        new LegacyUpstream(
            clients,
            UpstreamFixture.sessions(settings(Duration.ofSeconds(30)), "hostile", 1000, false));
    Future<UpstreamException> opening =
        threads.submit(() -> catchThrowableOfType(UpstreamException.class, () -> open(patient)));

    // when
    await().until(() -> !isBudgetUnused());
    received.complete(null);

    // then
    assertThat(opening.get()).isNotNull();
    await().until(this::isBudgetUnused);
    patient.close();
  }

  private boolean isBudgetUnused() {
    try (ByteBudget.Claim all = budget.newClaim()) {
      return all.set(BUDGET + ByteBudget.UNCOUNTED);
    }
  }

  private MessageSource askInnocently() {
    return innocent.attach(LINK).request(UpstreamFixture.call(7)).source();
  }

  private void attack(Random random) {
    try {
      UpstreamSession session = upstreams.getFirst().attach(LINK);
      switch (random.nextInt(6)) {
        case 0 -> open(upstreams.getFirst());
        case 1 -> open(upstreams.getLast());
        case 2 -> session.send(body("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}"));
        case 3 -> session.listen(null).ifPresent(this::read);
        case 4 -> read(session.resume("1"));
        default -> read(session.request(UpstreamFixture.call(1)).source());
      }
    } catch (UpstreamException e) {
      // This is how an attack should end.
    }
  }

  private static void open(Upstream upstream) {
    Handshake handshake = upstream.initialize(initialize());
    if (handshake.link() != null) {
      upstream.attach(handshake.link()).end();
    }
  }

  private void read(MessageSource source) {
    Future<?> closing =
        impatience.schedule(source::close, PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    try (source) {
      source.forEach(message -> assertThat(message.payload().length).isLessThan(512 << 10));
    } finally {
      closing.cancel(false);
    }
  }
}
