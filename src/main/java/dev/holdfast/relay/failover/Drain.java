package dev.holdfast.relay.failover;

import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.Parts;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Tails;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Empties a replica that is to stop. It sends its clients to other replicas, lets nobody new in,
 * goes on with the calls that run here for as long as it may, and hands over the rest. Whoever
 * comes in the first moment, sent by a balancer that has yet to look, is served and then sent on: a
 * refusal would cost a client the second of its {@code Retry-After}.
 *
 * <p>Where there are no others, because the log is not shared, nobody else could serve the clients
 * of running calls: they stay until their call has ended or, when the time is over, has been
 * answered with an error.
 */
public final class Drain {

  private static final Logger LOG = Logger.getLogger(Drain.class);

  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

  /** How long it may take a balancer to learn that this replica is not ready. */
  private static final Duration NOTICE = Duration.ofSeconds(1);

  /** From one client to the next: whoever gets them may have just started, and be slow still. */
  private static final Duration APART = Duration.ofMillis(25);

  /** Each look asks the store for every stream. */
  private static final Duration LOOK_FOR_CLAIMS = Duration.ofMillis(100);

  /** How long the last words to clients may take. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(1);

  private final StreamConfig config;
  private final Pumps pumps;
  private final Tails tails;
  private final Admission admission;
  private final @Nullable Handover others;

  /**
   * Does nothing yet.
   *
   * @param parts those of the relay of this replica
   * @param others the way to the other replicas; null when there can be none
   */
  public Drain(Parts parts, @Nullable Handover others) {
    this.config = parts.streams();
    this.pumps = parts.pumps();
    this.tails = parts.tails();
    this.admission = parts.admission();
    this.others = others;
  }

  /**
   * Drains, and returns when this replica may stop: nothing is left, or the time is over. The
   * replica must be able to answer and to write until then. To be called once.
   */
  public void run() {
    LOG.infof("draining: connections=%d streams=%d", tails.size(), pumps.streams().size());
    long deadline = System.nanoTime() + config.drainTimeout().toNanos();
    try {
      if (others == null) {
        finish(deadline);
      } else {
        handOver(others, deadline);
      }
      LOG.infof("drained: connections=%d streams=%d", tails.size(), pumps.streams().size());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void handOver(Handover to, long deadline) throws InterruptedException {
    Duration half = config.drainTimeout().dividedBy(2);
    Duration notice = half.compareTo(NOTICE) < 0 ? half : NOTICE;
    long noticed = System.nanoTime() + notice.toNanos();
    admission.closeSoon();
    to.prepare();
    tails.moveInTurn(APART, notice);
    await(noticed, this::isIdle);
    admission.close(stream -> true);
    await(deadline, this::isIdle);
    boolean heirs = to.leave();
    if (heirs && !pumps.isEmpty()) {
      awaitTakeOver(to);
    }
    // Whoever finds these streams later settles them: an error now would be the end of them.
    pumps.each(Pump::leave);
    await(System.nanoTime() + LAST_WORDS.toNanos(), tails::isEmpty);
  }

  private void awaitTakeOver(Handover to) throws InterruptedException {
    LOG.infof("others take over: streams=%d", pumps.streams().size());
    long patience = System.nanoTime() + to.patience().toNanos();
    // Soon after the claim: a server may refuse their connection for as long as it has ours.
    while (!pumps.isEmpty() && System.nanoTime() - patience < 0) {
      to.stopTaken();
      Thread.sleep(LOOK_FOR_CLAIMS);
    }
  }

  private void finish(long deadline) throws InterruptedException {
    admission.close(Drain::neverEnds);
    tails.move(Drain::neverEnds);
    await(deadline, this::isIdle);
    // What carries everything that a client gets ends with nothing else.
    tails.move(stream -> neverEnds(stream) || stream.name().equals(StreamNames.ONE));
    await(deadline, () -> isIdle() && tails.isEmpty());
    pumps.each(Pump::abandon);
    await(System.nanoTime() + LAST_WORDS.toNanos(), () -> isIdle() && tails.isEmpty());
  }

  private static boolean neverEnds(StreamRef stream) {
    return stream.name().equals(StreamNames.STANDALONE);
  }

  private boolean isIdle() {
    return !admission.isBusy() && !pumps.areAnswering();
  }

  private static void await(long deadline, BooleanSupplier done) throws InterruptedException {
    while (!done.getAsBoolean() && System.nanoTime() - deadline < 0) {
      Thread.sleep(LOOK_AGAIN);
    }
  }
}
