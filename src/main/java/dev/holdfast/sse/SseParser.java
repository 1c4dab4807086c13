package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Utf8;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Parses a {@code text/event-stream} from byte chunks cut anywhere, by the WHATWG HTML standard. It
 * replaces ill-formed UTF-8 by U+FFFD, skips unknown fields, and bounds sizes.
 *
 * <p>A parser reads one stream, on one thread at a time. It outlives connections: {@link #end}
 * prepares it for the next one, with the last event id to resume from.
 *
 * @see <a
 *     href="https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream">Parsing
 *     an event stream</a>
 */
public final class SseParser {

  /** Upper bound of {@code retry}: 24 days, which every timer accepts. */
  private static final long MAX_RETRY_MILLIS = Integer.MAX_VALUE;

  /** Maximum length of an event id or type. Readers keep the id, and send it as a header. */
  private static final int MAX_ID_BYTES = 1024;

  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private static final byte[] NO_DATA = {};
  private static final byte[] DATA = "data".getBytes(US_ASCII);
  private static final byte[] EVENT = "event".getBytes(US_ASCII);
  private static final byte[] ID = "id".getBytes(US_ASCII);
  private static final byte[] RETRY = "retry".getBytes(US_ASCII);
  private static final byte[] MESSAGE = SseEvent.DEFAULT_TYPE.getBytes(US_ASCII);

  private final int maxLineBytes;
  private final GrowableBytes unfinishedLine = new GrowableBytes(EventData.RETAINED_BYTES);
  private final EventData data;
  private String type = SseEvent.DEFAULT_TYPE;

  /** The id that {@code id} lines set. A dispatch commits it. */
  private String pendingId = "";

  private String lastEventId = "";

  /** Number of bytes of the byte order mark that have passed; all of them after other content. */
  private int markBytes;

  /** The previous line ended with a CR, so a following LF belongs to it. */
  private boolean afterCarriageReturn;

  /** True while the rest of an event that is too large is skipped, and the rest of its line. */
  private boolean skippingEvent;

  private boolean skippingLine;

  /** Set while feeding. An exception leaves it set, because bytes of the stream are lost. */
  private boolean broken;

  private @Nullable Duration retry;

  /**
   * Creates a parser for a new stream, with no last event id.
   *
   * @param maxLineBytes length of the longest accepted line, without its line end
   * @param maxEventBytes size of the largest accepted event: its {@code data} values and the line
   *     feeds between them, as received
   * @throws IllegalArgumentException if a limit is not positive
   */
  public SseParser(int maxLineBytes, int maxEventBytes) {
    if (maxLineBytes <= 0 || maxEventBytes <= 0) {
      throw new IllegalArgumentException("limits must be positive");
    }
    this.maxLineBytes = maxLineBytes;
    data = new EventData(maxEventBytes);
  }

  /**
   * Parses the next bytes of the stream. The chunk may be reused afterwards.
   *
   * @param handler receives what these bytes complete, during this call only
   * @throws SseLimitException if a line, an id or an event is too large; the handler has received
   *     all before it
   * @throws IllegalStateException after an exception of this method, until {@link #resume}
   */
  public void feed(byte[] chunk, int offset, int length, SseHandler handler) {
    Objects.checkFromIndexSize(offset, length, chunk.length);
    if (broken) {
      throw new IllegalStateException("the parser has lost its place and must be reset");
    }
    broken = true;
    int end = offset + length;
    int position = skipLineFeed(chunk, skipByteOrderMark(chunk, offset, end), end);
    while (position < end) {
      int lineEnd = Utf8.lineEnd(chunk, position, end);
      if (skippingLine) {
        handler.skipped(chunk, position, lineEnd);
      } else if (unfinishedLine.length() + (long) (lineEnd - position) > maxLineBytes) {
        unfinishedLine.append(chunk, position, lineEnd - position);
        skipLine(handler);
      }
      if (lineEnd == end) {
        break;
      }
      if (skippingLine) {
        skippingLine = false;
      } else {
        finishLine(chunk, position, lineEnd, handler);
      }
      afterCarriageReturn = chunk[lineEnd] == '\r';
      position = skipLineFeed(chunk, lineEnd + 1, end);
    }
    if (!skippingLine) {
      unfinishedLine.append(chunk, position, end - position);
    }
    broken = false;
  }

  /** Skips the unfinished event, and so gives up what is held of it. */
  public void skip(SseHandler handler) {
    skipEvent(handler);
    if (isData(unfinishedLine)) {
      skipLine(handler);
    }
  }

  private static boolean isData(GrowableBytes line) {
    return line.length() > DATA.length
        && line.array()[DATA.length] == ':'
        && Arrays.equals(line.array(), 0, DATA.length, DATA, 0, DATA.length);
  }

  private void skipEvent(SseHandler handler) {
    data.skip(handler);
    skippingEvent = true;
  }

  /** Only a line of data may be too long. */
  private void skipLine(SseHandler handler) {
    if (!isData(unfinishedLine) || !handler.skips()) {
      throw new SseLimitException("SSE line", maxLineBytes);
    }
    skipEvent(handler);
    skippingLine = true;
    byte[] line = unfinishedLine.array();
    int value = DATA.length + 1;
    boolean spaced = value < unfinishedLine.length() && line[value] == ' ';
    handler.skipped(line, spaced ? value + 1 : value, unfinishedLine.length());
    unfinishedLine.clear();
  }

  /** Size in bytes of the buffers for an unfinished line and event. */
  public int heldBytes() {
    return unfinishedLine.array().length + data.heldBytes();
  }

  /**
   * Ends the connection. Discards an unfinished event with its id. Keeps the last event id and the
   * reconnection time. The next bytes start a new connection.
   */
  public void end() {
    unfinishedLine.clear();
    data.clear();
    skippingEvent = false;
    skippingLine = false;
    type = SseEvent.DEFAULT_TYPE;
    pendingId = lastEventId;
    markBytes = 0;
    afterCarriageReturn = false;
  }

  /**
   * Resets the parser, also after an exception, for a stream that another parser may have read.
   *
   * @param lastEventId the last event id until the stream sends another; empty for none
   * @throws IllegalArgumentException if it holds CR, LF or NUL
   */
  public void resume(String lastEventId) {
    SseWriter.requireIdOrEmpty(lastEventId);
    this.lastEventId = lastEventId;
    end();
    retry = null;
    broken = false;
  }

  /** Value for the {@code Last-Event-ID} header of the next connection; empty for no header. */
  public String lastEventId() {
    return lastEventId;
  }

  /** The last {@code retry} time of the server, at most 2<sup>31</sup>-1 ms. */
  public Optional<Duration> retry() {
    return Optional.ofNullable(retry);
  }

  private int skipByteOrderMark(byte[] chunk, int from, int to) {
    int position = from;
    while (markBytes < BYTE_ORDER_MARK.length && position < to) {
      if (chunk[position] != BYTE_ORDER_MARK[markBytes]) {
        // No mark: the bytes that have passed, perhaps in an earlier chunk, are content.
        unfinishedLine.append(BYTE_ORDER_MARK, 0, markBytes);
        markBytes = BYTE_ORDER_MARK.length;
        return position;
      }
      markBytes++;
      position++;
    }
    return position;
  }

  private int skipLineFeed(byte[] chunk, int position, int end) {
    if (!afterCarriageReturn || position == end) {
      return position;
    }
    afterCarriageReturn = false;
    return chunk[position] == '\n' ? position + 1 : position;
  }

  private void finishLine(byte[] chunk, int from, int to, SseHandler handler) {
    if (unfinishedLine.length() == 0) {
      line(chunk, from, to, handler);
    } else {
      unfinishedLine.append(chunk, from, to - from);
      line(unfinishedLine.array(), 0, unfinishedLine.length(), handler);
      unfinishedLine.clear();
    }
  }

  private void line(byte[] bytes, int from, int to, SseHandler handler) {
    if (from == to) {
      dispatch(handler);
      return;
    }
    int colon = from;
    while (colon < to && bytes[colon] != ':') {
      colon++;
    }
    // After the colon and one space. A line without a colon is a name with an empty value.
    int value = Math.min(colon + 1, to);
    if (value < to && bytes[value] == ' ') {
      value++;
    }
    if (Arrays.equals(bytes, from, colon, DATA, 0, DATA.length)) {
      dataField(bytes, value, to, handler);
    } else if (Arrays.equals(bytes, from, colon, ID, 0, ID.length)) {
      idField(bytes, value, to);
    } else if (Arrays.equals(bytes, from, colon, EVENT, 0, EVENT.length)) {
      boolean isDefault =
          value == to || Arrays.equals(bytes, value, to, MESSAGE, 0, MESSAGE.length);
      type = isDefault ? SseEvent.DEFAULT_TYPE : shortText("SSE event type", bytes, value, to);
    } else if (Arrays.equals(bytes, from, colon, RETRY, 0, RETRY.length)) {
      retryField(bytes, value, to, handler);
    } else if (colon == from) {
      handler.comment();
    }
  }

  private void dataField(byte[] bytes, int value, int to, SseHandler handler) {
    if (!skippingEvent && data.fits(to - value)) {
      data.addLine(bytes, value, to);
    } else {
      skipEvent(handler);
      handler.skipped(bytes, value, to);
    }
  }

  private void idField(byte[] bytes, int value, int to) {
    for (int i = value; i < to; i++) {
      if (bytes[i] == 0) {
        return;
      }
    }
    pendingId = shortText("SSE event id", bytes, value, to);
  }

  private static String shortText(String what, byte[] bytes, int from, int to) {
    String text = to - from > MAX_ID_BYTES ? null : Utf8.decode(bytes, from, to);
    // Repaired text can be longer than the bytes were.
    if (text == null
        || (text.length() * 3 > MAX_ID_BYTES && text.getBytes(UTF_8).length > MAX_ID_BYTES)) {
      throw new SseLimitException(what, MAX_ID_BYTES);
    }
    return text;
  }

  private void retryField(byte[] bytes, int value, int to, SseHandler handler) {
    if (value == to) {
      return;
    }
    long millis = 0;
    for (int i = value; i < to; i++) {
      if (bytes[i] < '0' || bytes[i] > '9') {
        return;
      }
      millis = Math.min(millis * 10 + (bytes[i] - '0'), MAX_RETRY_MILLIS);
    }
    Duration delay = Duration.ofMillis(millis);
    retry = delay;
    handler.retry(delay);
  }

  private void dispatch(SseHandler handler) {
    lastEventId = pendingId;
    byte[] complete = skippingEvent ? NO_DATA : data.take();
    skippingEvent = false;
    if (complete != null) {
      handler.event(new SseEvent(type, lastEventId, complete));
    }
    type = SseEvent.DEFAULT_TYPE;
  }
}
