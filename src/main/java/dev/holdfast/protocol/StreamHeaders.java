package dev.holdfast.protocol;

/** Names of the HTTP headers of a stream of messages (Durable Streams, section 13.2). */
public final class StreamHeaders {

  /** The handle of a call, in the response to it. The gateway's own. */
  public static final String CALL = "Holdfast-Call";

  /** The offset from which the next request reads. */
  public static final String NEXT_OFFSET = "Stream-Next-Offset";

  /** True if the response has all messages that there are. */
  public static final String UP_TO_DATE = "Stream-Up-To-Date";

  /** True if there will be no more messages. */
  public static final String CLOSED = "Stream-Closed";

  /** A number for the {@code cursor} of the next request, so that no cache answers it. */
  public static final String CURSOR = "Stream-Cursor";

  private StreamHeaders() {}
}
