package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Parses a {@code text/event-stream} from byte chunks cut anywhere, by the rules of the WHATWG HTML
 * standard. Text is never refused: what is not UTF-8 is replaced by U+FFFD, and unknown fields are
 * skipped. Only sizes are bounded.
 *
 * <p>A parser reads one stream at a time, on one thread at a time. It outlives connections: {@link
 * #end()} makes it ready for the next one, with the last event id to continue from.
 *
 * @see <a
 *     href="https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream">Parsing
 *     an event stream</a>
 */
public final class SseParser {

  /** What a buffer keeps allocated between events; small, for there is a parser per open stream. */
  static final int RETAINED_BYTES = 512;

  /** Saturation point of {@code retry}: 24 days, and what any timer can still take. */
  private static final long MAX_RETRY_MILLIS = Integer.MAX_VALUE;

  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private final int maxLineBytes;
  private final GrowableBytes unfinishedLine = new GrowableBytes(RETAINED_BYTES);
  private final EventType type = new EventType();
  private final LastEventId lastEventId = new LastEventId();
  private final EventData data;
  private final SseEvent event;

  /** How many bytes of the byte order mark have passed; all of them also once it can't come. */
  private int markBytes;

  /** The chunk before ended with a CR: an LF that follows belongs to it. */
  private boolean afterCarriageReturn;

  /** Set while feeding and left set by an exception, when bytes of the stream have been lost. */
  private boolean broken;

  private @Nullable Duration retry;

  /**
   * Creates a parser for a new stream, with no last event id.
   *
   * @param maxLineBytes the longest line accepted, its line end not counted
   * @param maxEventBytes the largest event accepted: the bytes of its {@code data} values and the
   *     line feeds between them, as received
   * @throws IllegalArgumentException if a limit isn't positive
   */
  public SseParser(int maxLineBytes, int maxEventBytes) {
    if (maxLineBytes <= 0 || maxEventBytes <= 0) {
      throw new IllegalArgumentException("limits must be positive");
    }
    this.maxLineBytes = maxLineBytes;
    this.data = new EventData(maxEventBytes);
    this.event = new SseEvent(type, lastEventId, data);
  }

  /**
   * Parses the next bytes of the stream and hands over what they complete. The chunk may be reused
   * afterwards.
   *
   * @param chunk holds the bytes
   * @param offset index of the first one
   * @param length how many there are
   * @param handler is called during this method only
   * @throws SseLimitException if a line or an event is too large; what came before it has been
   *     handed over
   * @throws IllegalStateException if an exception left this method earlier, and the parser wasn't
   *     {@linkplain #reset() reset} since
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
      int lineEnd = ByteScan.lineEnd(chunk, position, end);
      checkLine(unfinishedLine.length() + (long) (lineEnd - position));
      if (lineEnd == end) {
        break;
      }
      finishLine(chunk, position, lineEnd, handler);
      afterCarriageReturn = chunk[lineEnd] == '\r';
      position = skipLineFeed(chunk, lineEnd + 1, end);
    }
    // First the data, which may still lie in the array that the unfinished line goes to.
    data.keep();
    unfinishedLine.append(chunk, position, end - position);
    broken = false;
  }

  /**
   * Ends the connection. An unfinished event is discarded, and so is its id. The last event id and
   * the reconnection time stay, and the next bytes fed are the start of a new connection, on which
   * events without an id leave the last event id as it is.
   */
  public void end() {
    unfinishedLine.clear();
    type.clear();
    data.clear();
    lastEventId.discard();
    markBytes = 0;
    afterCarriageReturn = false;
  }

  /** Forgets everything, as if newly created; the way back after an exception. */
  public void reset() {
    resume("");
  }

  /**
   * Forgets everything but the position given, for a stream that another parser has read before.
   *
   * @param lastEventId what {@link #lastEventId()} shall be until the stream sends another
   * @throws IllegalArgumentException if it holds CR, LF or NUL, which no event id can
   */
  public void resume(String lastEventId) {
    FieldRules.requireSeedableId(lastEventId);
    end();
    this.lastEventId.seed(lastEventId.getBytes(UTF_8));
    retry = null;
    broken = false;
  }

  /**
   * Tells where to continue: the value for the {@code Last-Event-ID} header of a new connection.
   *
   * @return the id of the last finished event, empty if there is none (then send no header)
   */
  public String lastEventId() {
    return lastEventId.committed();
  }

  /**
   * Tells how long the server asks to wait before a new connection.
   *
   * @return the latest {@code retry}, at most 2<sup>31</sup>-1 ms; empty if there was none
   */
  public Optional<Duration> retry() {
    return Optional.ofNullable(retry);
  }

  private int skipByteOrderMark(byte[] chunk, int from, int to) {
    int position = from;
    while (markBytes < BYTE_ORDER_MARK.length && position < to) {
      if (chunk[position] != BYTE_ORDER_MARK[markBytes]) {
        // It is none; what has passed of it, perhaps in an earlier chunk, is content.
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

  private void checkLine(long length) {
    if (length > maxLineBytes) {
      throw new SseLimitException(SseLimitException.Limit.LINE, maxLineBytes);
    }
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
    switch (bytes[from]) {
      case ':' -> handler.comment();
      case 'd' -> dataField(bytes, FieldName.DATA.valueIn(bytes, from, to), to);
      case 'i' -> idField(bytes, FieldName.ID.valueIn(bytes, from, to), to);
      case 'e' -> eventField(bytes, FieldName.EVENT.valueIn(bytes, from, to), to);
      case 'r' -> retryField(bytes, FieldName.RETRY.valueIn(bytes, from, to), to, handler);
      default -> {
        // An unknown field.
      }
    }
  }

  private void dataField(byte[] bytes, int value, int to) {
    if (value != FieldName.NO_MATCH) {
      data.addLine(bytes, value, to - value);
    }
  }

  private void idField(byte[] bytes, int value, int to) {
    if (value == FieldName.NO_MATCH) {
      return;
    }
    for (int i = value; i < to; i++) {
      if (bytes[i] == 0) {
        return;
      }
    }
    lastEventId.set(bytes, value, to);
  }

  private void eventField(byte[] bytes, int value, int to) {
    if (value != FieldName.NO_MATCH) {
      type.set(bytes, value, to);
    }
  }

  private void retryField(byte[] bytes, int value, int to, SseHandler handler) {
    if (value == FieldName.NO_MATCH || value == to) {
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
    lastEventId.commit();
    if (data.present()) {
      data.repair();
      handler.event(event);
      data.clear();
    }
    type.clear();
  }
}
