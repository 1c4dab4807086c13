package dev.holdfast.cluster;

/** Takes over what a lost replica has left. */
@FunctionalInterface
public interface SessionAdopter {

  /**
   * Takes over the streams that a replica owns in one session. Called for many sessions at once,
   * each on a virtual thread of its own. When it throws, the session stays on record and is offered
   * again later, to this replica or another.
   *
   * @param session the session's id
   * @param lost the replica
   */
  void adopt(String session, ReplicaId lost);
}
