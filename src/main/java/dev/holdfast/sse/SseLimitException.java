package dev.holdfast.sse;

/**
 * A line or an event is larger than the {@link SseParser} accepts. The rest of the stream need not
 * start at an event, so the parser accepts no more bytes until it is reset.
 */
public final class SseLimitException extends RuntimeException {
  /** The exceeded limit. */
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

  /** The exceeded limit. */
  public Limit limit() {
    return limit;
  }

  /** The largest accepted size in bytes. */
  public int maxBytes() {
    return maxBytes;
  }
}
