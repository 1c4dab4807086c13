package dev.holdfast.upstream.http.client;

import java.util.List;

/** What a reader of a body finds after waiting. */
public sealed interface BodyRead {

  /**
   * The body goes on.
   *
   * @param chunks the next bytes in order, at least one chunk; now the reader's own
   */
  record Chunks(List<byte[]> chunks) implements BodyRead {}

  /**
   * The body was broken off.
   *
   * @param cause what the connection died of
   */
  record Broken(Throwable cause) implements BodyRead {}

  /** Why no bytes came. */
  enum Nothing implements BodyRead {
    /** The body is complete. */
    ENDED,
    /** The time is up. */
    SILENT,
    /** This side let go of the exchange. */
    CLOSED
  }
}
