package dev.holdfast.log.memory;

import dev.holdfast.log.LogEvent;

/** An event in its place in memory. Compared by identity: two equal events are two. */
final class StoredEvent {

  /** What the objects around a payload take, about. */
  static final int OVERHEAD = 128;

  private final MemoryStream stream;
  private final LogEvent event;

  StoredEvent(MemoryStream stream, LogEvent event) {
    this.stream = stream;
    this.event = event;
  }

  MemoryStream stream() {
    return stream;
  }

  LogEvent event() {
    return event;
  }

  long number() {
    return event.position().number();
  }

  /** Bytes of memory, about. */
  long bytes() {
    String upstreamId = event.upstreamId();
    return (long) OVERHEAD
        + event.payload().length
        + (upstreamId == null ? 0 : upstreamId.length());
  }
}
