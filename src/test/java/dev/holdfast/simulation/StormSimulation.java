package dev.holdfast.simulation;

import java.time.Duration;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;

/** Shows how a million clients come back to a hundred replicas. */
final class StormSimulation {

  private static final int CLIENTS = 1_000_000;
  private static final int REPLICAS = 100;

  /** As many as docs/scale.md has for these clients. */
  private static final int FEW = 14;

  /** From docs/benchmarks.md: 9,000 clients came back in 7.6 s, on cores that they used, too. */
  private static final Duration SERVICE = Duration.ofNanos(7_600_000_000L / 9_000);

  private static final Duration REFUSAL = Duration.ofNanos(100_000);
  private static final Duration RETRY = Duration.ofSeconds(5);

  /** Requests in progress on each replica, unless configured. */
  private static final int PLACES = 10_000;

  /** Attempts of a client that goes on. */
  private static final int PATIENT = 1_000;

  private StormSimulation() {}

  /** Prints a table. */
  public static void main(String[] args) {
    Random random = new Random(2);
    ReturningClients.Delay same = () -> RETRY;
    ReturningClients.Delay spread =
        () -> RETRY.plusNanos((long) (RETRY.toNanos() * random.nextDouble() / 4));
    System.out.println("retry 5 s");
    showAll(same);
    System.out.println("retry 5 to 6.25 s, as the program says");
    showAll(spread);
    show(
        "rolling restart",
        settings(REPLICAS, spread),
        it -> it.restartAll(Duration.ofSeconds(10), Duration.ofSeconds(5)));
  }

  private static void showAll(ReturningClients.Delay retry) {
    show("10 of 100 lost", settings(REPLICAS, retry), it -> it.lose(10));
    show("100 cut", settings(REPLICAS, retry), ReturningClients::cutAll);
    show("14 cut", settings(FEW, retry), ReturningClients::cutAll);
    show(
        "14 cut, queue",
        new ReturningClients.Settings(
            FEW, CLIENTS, SERVICE, REFUSAL, CLIENTS, PATIENT, false, retry),
        ReturningClients::cutAll);
    show(
        "14 cut, Retry-After",
        new ReturningClients.Settings(FEW, CLIENTS, SERVICE, REFUSAL, PLACES, PATIENT, true, retry),
        ReturningClients::cutAll);
    show(
        "14 cut, 2 attempts",
        new ReturningClients.Settings(FEW, CLIENTS, SERVICE, REFUSAL, PLACES, 2, false, retry),
        ReturningClients::cutAll);
  }

  private static ReturningClients.Settings settings(int replicas, ReturningClients.Delay retry) {
    return new ReturningClients.Settings(
        replicas, CLIENTS, SERVICE, REFUSAL, PLACES, PATIENT, false, retry);
  }

  private static void show(
      String what, ReturningClients.Settings settings, Consumer<ReturningClients> loss) {
    ReturningClients clients = new ReturningClients(settings);
    loss.accept(clients);
    clients.run();
    System.out.printf(
        Locale.ROOT,
        "  %-20s back 50 %%, 99 %%, all: %.1f, %.1f, %.1f s; refusals %,d; gave up %,d;"
            + " most at a replica in 0.1 s %,d%n",
        what,
        clients.seconds(.5),
        clients.seconds(.99),
        clients.seconds(1),
        clients.refusals(),
        clients.gaveUp(),
        clients.peak());
  }
}
