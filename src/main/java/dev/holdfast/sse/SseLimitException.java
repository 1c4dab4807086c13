package dev.holdfast.sse;

/**
 * A peer sent a line or an event larger than the {@link SseParser} accepts. The rest of its stream
 * can't be trusted to start at an event, so the parser takes no more bytes until it is reset.
 */
public final class SseLimitException extends RuntimeException {
  /** What was too large. */
  public enum Limit {
    /** One line, without its line end. */
    LINE,
    /** The data of one event, its lines joined. */
    EVENT
  }

  private final Limit limit;
  private final int maxBytes;

  SseLimitException(Limit limit, int maxBytes) {
    super(
        switch (limit) {
              case LINE -> "SSE line";
              case EVENT -> "data of an SSE event";
            }
            + " exceeds "
            + maxBytes
            + " bytes");
    this.limit = limit;
    this.maxBytes = maxBytes;
  }

  /**
   * Tells which limit was exceeded.
   *
   * @return the limit
   */
  public Limit limit() {
    return limit;
  }

  /**
   * Tells the value of that limit.
   *
   * @return the largest size that would have been accepted, in bytes
   */
  public int maxBytes() {
    return maxBytes;
  }
}
