package dev.holdfast.relay.tail;

import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.StreamNames;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/** Reasons why the client of a tail shall leave this replica. Thread-safe. */
final class Departures implements Tails.Movable {

  private final StreamRef stream;
  private final boolean isResumed;
  private final ClientFrames frames;
  private final TailSignal signal;
  private final BooleanSupplier resumes;
  private final BooleanSupplier isResumable;
  private final Set<Departure> reasons = ConcurrentHashMap.newKeySet();

  /**
   * Creates an empty set.
   *
   * @param isResumed whether the client has resumed the stream
   * @param resumes whether the client will resume a stream that this replica closes
   * @param isResumable whether the client can resume it
   */
  Departures(
      StreamRef stream,
      boolean isResumed,
      ClientFrames frames,
      TailSignal signal,
      BooleanSupplier resumes,
      BooleanSupplier isResumable) {
    this.stream = stream;
    this.isResumed = isResumed;
    this.frames = frames;
    this.signal = signal;
    this.resumes = resumes;
    this.isResumable = isResumable;
  }

  @Override
  public StreamRef stream() {
    return stream;
  }

  @Override
  public boolean isResumed() {
    return isResumed && frames.hasIds();
  }

  @Override
  public void depart(Departure why) {
    reasons.add(why);
    signal.wake();
  }

  /**
   * Returns true if the replica leaves, and its clients go as soon as they have what the log has.
   */
  boolean isStopping() {
    return reasons.contains(Departure.STOP);
  }

  /** Returns true if the client may stay. */
  boolean isEmpty() {
    return reasons.isEmpty();
  }

  /** Returns true if a client that moves would be refused here. */
  boolean isRefused() {
    return reasons.contains(Departure.EXPIRED) || isRevoked();
  }

  private boolean isRevoked() {
    return reasons.contains(Departure.REVOKED);
  }

  /**
   * Returns true if the client shall move and will resume elsewhere. It needs an event id for a
   * call.
   */
  boolean mayMove() {
    if (reasons.isEmpty()) {
      return false;
    }
    boolean standalone = stream.name().equals(StreamNames.STANDALONE);
    boolean goes =
        reasons.contains(Departure.EXPIRED)
            || (reasons.contains(Departure.MOVE)
                && (standalone || frames.canPause() || resumes.getAsBoolean()));
    return isRevoked() || (goes && (frames.canPause() || isResumable.getAsBoolean()));
  }

  /** Returns true if the response must end. */
  boolean shouldEnd() {
    return mayMove() || signal.isEnding();
  }
}
