package dev.holdfast.sse;

/**
 * The two id buffers of the standard: one that {@code id} lines set, and one that a dispatch
 * commits. Between events both are equal, so only a change is stored. A commit swaps two
 * references.
 */
final class LastEventId {

  private FieldText committed = new FieldText();
  private FieldText pending = new FieldText();
  private boolean changed;

  void set(byte[] source, int from, int to) {
    changed = !committed.matches(source, from, to);
    if (changed) {
      pending.set(source, from, to);
    }
  }

  void commit() {
    if (changed) {
      FieldText previous = committed;
      committed = pending;
      pending = previous;
      changed = false;
    }
  }

  /** Drops the id of an unfinished event. */
  void discard() {
    changed = false;
  }

  /** Sets and commits the id after which the stream resumes. */
  void seed(byte[] id) {
    set(id, 0, id.length);
    commit();
  }

  String committed() {
    return committed.text();
  }
}
