package dev.holdfast.upstream.http.client;

import java.util.List;

/** Result of one wait for the bytes of a body. */
public sealed interface BodyRead {

  /**
   * The next bytes.
   *
   * @param chunks at least one chunk, in order; they belong to the reader
   */
  record Chunks(List<byte[]> chunks) implements BodyRead {}

  /**
   * The connection broke in the middle of the body.
   *
   * @param cause why it broke
   */
  record Broken(Throwable cause) implements BodyRead {}

  /** Results without bytes. */
  enum NoBytes implements BodyRead {
    /** The body is complete. */
    COMPLETE,
    /** The deadline has passed. */
    TIMED_OUT,
    /** This side has closed the exchange. */
    CLOSED
  }
}
