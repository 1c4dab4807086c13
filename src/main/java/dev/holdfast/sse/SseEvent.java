package dev.holdfast.sse;

/**
 * The event being dispatched: a view into its {@link SseParser}, there to be read inside {@link
 * SseHandler#event} and at no other time. Whoever needs more of it later takes copies: the strings,
 * and {@link #copyData()}.
 *
 * <p>The data is a slice, {@link #dataLength()} bytes of {@link #dataArray()} from {@link
 * #dataOffset()} on, and always well-formed UTF-8. When the event has one {@code data} line and
 * came in one chunk that array is the very chunk that was fed: it must not be written to.
 *
 * @see <a href="https://html.spec.whatwg.org/multipage/server-sent-events.html#dispatchMessage">how
 *     the standard dispatches an event</a>
 */
public final class SseEvent {

  /** The type of an event that names none. */
  public static final String DEFAULT_TYPE = "message";

  private final EventType type;
  private final LastEventId lastEventId;
  private final EventData data;

  SseEvent(EventType type, LastEventId lastEventId, EventData data) {
    this.type = type;
    this.lastEventId = lastEventId;
    this.data = data;
  }

  /**
   * Names the kind of event.
   *
   * @return the value of the {@code event} line, {@link #DEFAULT_TYPE} when absent or empty
   */
  public String type() {
    return type.text();
  }

  /**
   * Names the place in the stream that a reader has reached with this event. It is this event's own
   * id, or else that of the latest event that had one.
   *
   * @return the last event id, empty when the stream has named none or has taken it back
   */
  public String lastEventId() {
    return lastEventId.committed();
  }

  /**
   * Gives the array the data lies in.
   *
   * @return not a copy; never to be written to
   */
  public byte[] dataArray() {
    return data.array();
  }

  /**
   * Gives the index of the first byte of data.
   *
   * @return an index into {@link #dataArray()}
   */
  public int dataOffset() {
    return data.offset();
  }

  /**
   * Gives the size of the data.
   *
   * @return a number of bytes; 0 for an event whose {@code data} line has no value
   */
  public int dataLength() {
    return data.length();
  }

  /**
   * Copies the data, to be kept.
   *
   * @return a new array of UTF-8 text
   */
  public byte[] copyData() {
    return data.copy();
  }
}
