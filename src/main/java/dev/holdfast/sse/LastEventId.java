package dev.holdfast.sse;

/**
 * The two id buffers of the standard: what {@code id} lines set, and what the last dispatch
 * committed. Outside an unfinished event both are equal, since a dispatch commits without clearing;
 * so only a change is stored, and committing it swaps two references.
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

  /** Drops what an unfinished event has set. */
  void discard() {
    changed = false;
  }

  /** Sets and commits the id to go on from. */
  void seed(byte[] id) {
    set(id, 0, id.length);
    commit();
  }

  String committed() {
    return committed.text();
  }
}
