package dev.holdfast.log.redis.write;

/**
 * What Redis has not heard of a stream.
 *
 * @param name the name of the stream
 * @param bytes the bytes of the events that were written
 * @param largest the bytes of the largest of them
 * @param isNew whether they are the first events of the stream
 * @param end whether the stream is complete
 * @param delivery whether the stream was delivered to its end
 */
record UnreportedStream(
    String name, long bytes, long largest, boolean isNew, End end, Delivery delivery) {

  /** The end of a stream. */
  enum End {
    NONE(""),
    /** The client of the stream, which may be complete or not, has left. */
    LEFT("l"),
    /** The stream is complete, and a client reads it. */
    FOLLOWED("cf"),
    /** The stream is complete, and no client reads it. */
    UNFOLLOWED("c");

    private final String flags;

    End(String flags) {
      this.flags = flags;
    }

    private End then(End later) {
      return switch (later) {
        case NONE -> this;
        case LEFT -> this == NONE || this == LEFT ? LEFT : UNFOLLOWED;
        case FOLLOWED, UNFOLLOWED -> later;
      };
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
    return new UnreportedStream(name, 0, 0, false, End.NONE, delivery);
  }

  /** A stream whose client has left. */
  static UnreportedStream left(String name) {
    return new UnreportedStream(name, 0, 0, false, End.LEFT, Delivery.NONE);
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
        end.then(later.end),
        delivery.compareTo(later.delivery) > 0 ? delivery : later.delivery);
  }

  /** The flags of the script. */
  String flags() {
    return (isNew ? "n" : "") + end.flags + delivery.flags;
  }
}
