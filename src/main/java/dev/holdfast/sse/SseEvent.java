package dev.holdfast.sse;

/**
 * A complete event.
 *
 * @param type the event type; {@link #DEFAULT_TYPE} when absent or empty
 * @param lastEventId the id of this event, or of the latest event before it that had one; empty
 *     when the stream has no id or has erased it
 * @param data well-formed UTF-8; empty for an empty {@code data} line
 * @see <a href="https://html.spec.whatwg.org/multipage/server-sent-events.html#dispatchMessage">how
 *     the standard dispatches an event</a>
 */
public record SseEvent(String type, String lastEventId, byte[] data) {

  /** The type of an event without a type of its own. */
  public static final String DEFAULT_TYPE = "message";
}
