package dev.holdfast.log.redis.write;

/**
 * What Redis has not heard of a stream.
 *
 * @param name the name of the stream
 * @param bytes the bytes of the events that were written
 * @param largest the bytes of the largest of them
 * @param isNew whether they are the first events of the stream
 * @param complete whether the stream is complete
 * @param delivered whether the stream was delivered to its end
 */
record UnreportedStream(
    String name, long bytes, long largest, boolean isNew, boolean complete, boolean delivered) {

  /** A stream that was delivered to its end. */
  static UnreportedStream delivered(String name) {
    return new UnreportedStream(name, 0, 0, false, false, true);
  }

  UnreportedStream plus(UnreportedStream later) {
    return new UnreportedStream(
        name,
        bytes + later.bytes,
        Math.max(largest, later.largest),
        isNew || later.isNew,
        complete || later.complete,
        delivered || later.delivered);
  }

  /** The flags of the script. */
  String flags() {
    return (isNew ? "n" : "") + (complete ? "c" : "") + (delivered ? "d" : "");
  }
}
