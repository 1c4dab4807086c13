package dev.holdfast.log.redis.write;

/**
 * What Redis has not heard of a stream.
 *
 * @param name the name of the stream
 * @param bytes the bytes of the events that were written
 * @param largest the bytes of the largest of them
 * @param isNew whether they are the first events of the stream
 * @param complete whether the stream is complete
 * @param delivery whether the stream was delivered to its end
 */
record UnreportedStream(
    String name, long bytes, long largest, boolean isNew, boolean complete, Delivery delivery) {

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
    return new UnreportedStream(name, 0, 0, false, false, delivery);
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
        delivery.compareTo(later.delivery) > 0 ? delivery : later.delivery);
  }

  /** The flags of the script. */
  String flags() {
    return (isNew ? "n" : "") + (complete ? "c" : "") + delivery.flags;
  }
}
