package dev.holdfast.log.redis.write;

/**
 * Changes of a stream that Redis has not heard of.
 *
 * @param name the name of the stream
 * @param bytes the bytes of the events that were written
 * @param largest the bytes of the largest of them
 * @param isNew whether they are the first events of the stream
 * @param complete whether the stream is complete
 * @param reader its client on this replica
 * @param delivery whether the stream was delivered to its end
 */
record UnreportedStream(
    String name,
    long bytes,
    long largest,
    boolean isNew,
    boolean complete,
    Reader reader,
    Delivery delivery) {

  /** The client on this replica. One that has left stays so for the rest of a report. */
  enum Reader {
    NONE(""),
    /** It reads the stream, which is complete. */
    FOLLOWS("f"),
    LEFT("l");

    private final String flags;

    Reader(String flags) {
      this.flags = flags;
    }
  }

  /** A delivery to the end, by what is known of it; the order is that of the knowledge. */
  enum Delivery {
    NONE(""),
    /** Nothing proves that the client received the end, so the log keeps the stream. */
    UNPROVEN("dk"),
    PROVEN("d");

    private final String flags;

    Delivery(String flags) {
      this.flags = flags;
    }
  }

  /** A stream that was delivered to its end, or not. */
  static UnreportedStream delivered(String name, Delivery delivery) {
    return new UnreportedStream(name, 0, 0, false, false, Reader.NONE, delivery);
  }

  /** A stream, complete or not, whose client has left. */
  static UnreportedStream left(String name) {
    return new UnreportedStream(name, 0, 0, false, false, Reader.LEFT, Delivery.NONE);
  }

  /** The stream when everything is reported. */
  UnreportedStream reported() {
    return delivered(name, Delivery.NONE);
  }

  UnreportedStream plus(UnreportedStream later) {
    return new UnreportedStream(
        name,
        bytes + later.bytes,
        Math.max(largest, later.largest),
        isNew || later.isNew,
        complete || later.complete,
        max(reader, later.reader),
        max(delivery, later.delivery));
  }

  private static <E extends Enum<E>> E max(E one, E other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  /** The flags of the script. */
  String flags() {
    return (isNew ? "n" : "") + (complete ? "c" : "") + reader.flags + delivery.flags;
  }
}
