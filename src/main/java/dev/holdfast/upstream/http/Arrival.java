package dev.holdfast.upstream.http;

import java.util.List;

/** What a reader of a body finds after waiting. */
sealed interface Arrival {

  /**
   * The body goes on.
   *
   * @param chunks the next bytes in order, at least one chunk; now the reader's own
   */
  record Chunks(List<byte[]> chunks) implements Arrival {}

  /**
   * The body was broken off.
   *
   * @param cause what the connection died of
   */
  record Broken(Throwable cause) implements Arrival {}

  /** Why no bytes came. */
  enum Nothing implements Arrival {
    /** The body is complete. */
    ENDED,
    /** The time is up. */
    SILENT,
    /** This side let go of the exchange. */
    CLOSED
  }
}
