package dev.holdfast.sse;

/**
 * A line or an event is larger than the {@link SseParser} accepts. The rest of the stream need not
 * start at an event, so the parser accepts no more bytes until it is reset.
 */
public final class SseLimitException extends RuntimeException {
  SseLimitException(String what, int maxBytes) {
    super(what + " exceeds " + maxBytes + " bytes");
  }
}
