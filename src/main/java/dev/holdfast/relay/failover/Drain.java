package dev.holdfast.relay.failover;

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
 * Drains a replica that stops. It moves clients that resume to other replicas, refuses new
 * requests, waits for the calls that run here, and hands over the rest. Clients that may not resume
 * keep their connections until then. Requests of the first second are still served, and their
 * clients moved: a refusal would cost them the second of {@code Retry-After}.
 *
 * <p>A replica whose log is not shared has no others. There the clients of running calls stay until
 * their calls end or, when the time is over, get an error.
 *
 * @param others null when there are no other replicas
 */
public record Drain(
    StreamConfig config, Pumps pumps, Tails tails, Admission admission, @Nullable Handover others) {

  private static final Logger LOG = Logger.getLogger(Drain.class);

  private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

  /** Time that a load balancer needs to learn that this replica is not ready. */
  private static final Duration READINESS_DELAY = Duration.ofSeconds(1);

  /** Time between two clients that move: the replica that gets them may just have started. */
  private static final Duration MOVE_INTERVAL = Duration.ofMillis(25);

  /** Time between two questions to the store, each of which names every stream. */
  private static final Duration TAKE_OVER_INTERVAL = Duration.ofMillis(100);

  /** Time that the last frames to clients may take. */
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

  /** Hands the streams of a draining replica over to the other replicas. */
  public interface Handover {

    /** Stops taking over streams of others. This replica still counts as alive. */
    void prepare();

    /**
     * Tells the other replicas to take over what is still open here.
     *
     * @return whether there is another replica; false when the store is away
     */
    boolean leave();

    /**
     * Stops the pumps whose streams another replica has taken over. Does nothing without a store.
     */
    void stopLostPumps();

    /** Time that the other replicas may need to take over. */
    Duration takeOverTimeout();
  }

  /**
   * Drains, and returns when nothing is left or the time is over. Until then this replica must be
   * able to answer requests and to write. Called once.
   */
  public void run() {
    LOG.infof("draining connections=%d streams=%d", tails.size(), pumps.streams().size());
    long deadline = System.nanoTime() + config.drainTimeout().toNanos();
    try {
      if (others == null) {
        finish(deadline);
      } else {
        handOver(others, deadline);
      }
      LOG.infof("drained connections=%d streams=%d", tails.size(), pumps.streams().size());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private void handOver(Handover to, long deadline) throws InterruptedException {
    Duration half = config.drainTimeout().dividedBy(2);
    Duration notice = half.compareTo(READINESS_DELAY) < 0 ? half : READINESS_DELAY;
    long noticed = System.nanoTime() + notice.toNanos();
    admission.drain();
    to.prepare();
    tails.moveInTurn(MOVE_INTERVAL, notice);
    await(noticed, this::isIdle);
    admission.close();
    await(deadline, this::isIdle);
    boolean takenOver = to.leave();
    if (takenOver && !pumps.isEmpty()) {
      awaitTakeOver(to);
    }
    // Another replica will find these streams. An error now would end them.
    pumps.forEach(Pump::handOver);
    tails.leave();
    await(System.nanoTime() + CLOSE_TIMEOUT.toNanos(), tails::isEmpty);
  }

  private void awaitTakeOver(Handover to) throws InterruptedException {
    LOG.infof("other replicas take over streams=%d", pumps.streams().size());
    long deadline = System.nanoTime() + to.takeOverTimeout().toNanos();
    // Soon after each take-over: a server may refuse the other replica while this one is connected.
    while (!pumps.isEmpty() && System.nanoTime() - deadline < 0) {
      to.stopLostPumps();
      Thread.sleep(TAKE_OVER_INTERVAL);
    }
  }

  private void finish(long deadline) throws InterruptedException {
    admission.close();
    tails.move(stream -> stream.name().equals(StreamNames.STANDALONE));
    await(deadline, this::isIdle);
    pumps.forEach(Pump::endUnfinished);
    await(System.nanoTime() + CLOSE_TIMEOUT.toNanos(), this::isIdle);
    tails.leave();
    long closed = System.nanoTime() + CLOSE_TIMEOUT.toNanos();
    await(Math.max(deadline, closed), tails::isEmpty);
  }

  private boolean isIdle() {
    return !admission.isBusy() && !pumps.areAnswering();
  }

  private static void await(long deadline, BooleanSupplier done) throws InterruptedException {
    while (!done.getAsBoolean() && System.nanoTime() - deadline < 0) {
      Thread.sleep(POLL_INTERVAL);
    }
  }
}
