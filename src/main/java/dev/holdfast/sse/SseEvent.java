package dev.holdfast.sse;

/**
 * The event that an {@link SseParser} dispatches. It is a view into the parser, valid only inside
 * {@link SseHandler#event}. The strings and {@link #copyData} are copies.
 *
 * <p>The data is {@link #dataLength} bytes of {@link #dataArray} from {@link #dataOffset} on,
 * always well-formed UTF-8. If one {@code data} line arrived in one chunk, the array is that chunk.
 *
 * @see <a href="https://html.spec.whatwg.org/multipage/server-sent-events.html#dispatchMessage">how
 *     the standard dispatches an event</a>
 */
public final class SseEvent {

  /** The type of an event without a type of its own. */
  public static final String DEFAULT_TYPE = "message";

  private final FieldText type;
  private final LastEventId lastEventId;
  private final EventData data;

  SseEvent(FieldText type, LastEventId lastEventId, EventData data) {
    this.type = type;
    this.lastEventId = lastEventId;
    this.data = data;
  }

  /** The event type; {@link #DEFAULT_TYPE} when absent or empty. */
  public String type() {
    String text = type.text();
    return text.isEmpty() ? DEFAULT_TYPE : text;
  }

  /**
   * The id of this event, or of the latest event before it that had one; empty when the stream has
   * no id or has erased it.
   */
  public String lastEventId() {
    return lastEventId.committed();
  }

  /** The array that holds the data. Must not be changed. */
  public byte[] dataArray() {
    return data.array();
  }

  /** Index of the first byte of data in {@link #dataArray}. */
  public int dataOffset() {
    return data.offset();
  }

  /** Size of the data in bytes; 0 for an empty {@code data} line. */
  public int dataLength() {
    return data.length();
  }

  /** A copy of the data, as UTF-8. */
  public byte[] copyData() {
    return data.copy();
  }
}
