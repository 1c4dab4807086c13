package dev.holdfast.log.memory;

import dev.holdfast.log.LogEvent;

/** An event in memory. Compared by identity, since equal events can be stored twice. */
final class StoredEvent {

  /** Estimated bytes of the objects around a payload. */
  static final int OVERHEAD = 128;

  private final Owner owner;
  private final LogEvent event;

  StoredEvent(Owner owner, LogEvent event) {
    this.owner = owner;
    this.event = event;
  }

  /** Stores events and purges them on demand. */
  interface Owner {
    /** Purges all events up to a number, inclusive. */
    void purgeThrough(long number);
  }

  LogEvent event() {
    return event;
  }

  long number() {
    return event.position().number();
  }

  /** Estimated bytes of memory. */
  long bytes() {
    String upstreamId = event.upstreamId();
    return (long) OVERHEAD
        + event.payload().length
        + (upstreamId == null ? 0 : upstreamId.length());
  }

  /** Purges this event and all earlier events of its stream. */
  void purge() {
    owner.purgeThrough(number());
  }
}
