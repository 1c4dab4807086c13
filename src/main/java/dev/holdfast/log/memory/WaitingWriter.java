package dev.holdfast.log.memory;

/**
 * Turn of a writer that waits for room in the {@link MemoryBudget}. One that needs little goes
 * before those that need much and came earlier. Each one that goes before brings their turn nearer.
 *
 * @param due the bytes that other writers may get before, counted from the first writer on
 * @param ticket the order of arrival
 */
record WaitingWriter(long due, long ticket) implements Comparable<WaitingWriter> {

  @Override
  public int compareTo(WaitingWriter other) {
    return due == other.due ? Long.compare(ticket, other.ticket) : Long.compare(due, other.due);
  }
}
