package dev.holdfast.cluster;

/** Adopts the sessions of a lost replica. */
@FunctionalInterface
public interface SessionAdopter {

  /**
   * Adopts the streams that a lost replica owns in one session. Called for many sessions at once,
   * each on its own virtual thread. If it throws, the session stays on record and is offered again
   * later, to this replica or another.
   *
   * @param session the session's id
   */
  void adopt(String session, ReplicaId lost);
}
