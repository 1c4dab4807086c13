package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Utf8;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Encodes frames of a {@code text/event-stream} into its buffer, to be sent with a single write. A
 * refused argument leaves the buffer unchanged.
 *
 * <p>Fields have the order {@code event}, {@code id}, {@code retry}, {@code data} and the form
 * {@code name: value}. Lines end in LF. Not thread-safe.
 */
public final class SseWriter {

  private static final int RETAINED_BYTES = 512;

  private static final byte[] EVENT = "event: ".getBytes(US_ASCII);
  private static final byte[] ID = "id: ".getBytes(US_ASCII);
  private static final byte[] RETRY = "retry: ".getBytes(US_ASCII);
  private static final byte[] DATA = "data: ".getBytes(US_ASCII);
  private static final byte[] COMMENT = ": ".getBytes(US_ASCII);
  private static final byte[] NO_DATA = {};

  private final GrowableBytes frames = new GrowableBytes(RETAINED_BYTES);

  /**
   * Appends an event.
   *
   * @param type the event type; null for {@link SseEvent#DEFAULT_TYPE}
   * @param id the event id; null to keep the reader's last event id
   * @param retry the reconnection time, sent in whole milliseconds; null for none
   * @param data UTF-8 text, not checked; split at CRLF, LF and CR into {@code data} lines
   * @throws IllegalArgumentException if type or id is empty or holds CR or LF, if the id holds NUL,
   *     or if retry is negative
   */
  public void event(
      @Nullable String type, @Nullable String id, @Nullable Duration retry, byte[] data) {
    check(type, id, retry);
    if (type != null) {
      field(EVENT, type);
    }
    if (id != null) {
      field(ID, id);
    }
    if (retry != null) {
      field(RETRY, Long.toString(retry.toMillis()));
    }
    dataLines(data);
    frames.append((byte) '\n');
  }

  /**
   * Appends an event without content, which gives the reader a first cursor. Without its empty
   * {@code data} line readers would ignore the id.
   *
   * @param retry the reconnection time, sent in whole milliseconds; null for none
   * @throws IllegalArgumentException if the id is empty or holds CR, LF or NUL, or if retry is
   *     negative
   */
  public void priming(String id, @Nullable Duration retry) {
    event(null, id, retry, NO_DATA);
  }

  /**
   * Appends a reconnection time without an event.
   *
   * @param retry sent in whole milliseconds
   * @throws IllegalArgumentException if it is negative
   */
  public void retry(Duration retry) {
    check(null, null, retry);
    field(RETRY, Long.toString(retry.toMillis()));
    frames.append((byte) '\n');
  }

  /**
   * Appends a comment. Readers skip it; it shows that the connection is alive.
   *
   * @param text may be empty
   * @throws IllegalArgumentException if it holds CR or LF
   */
  public void comment(String text) {
    requireOneLine("comment", text);
    field(COMMENT, text);
    frames.append((byte) '\n');
  }

  /** Size of the frames in the buffer, in bytes. */
  public int length() {
    return frames.length();
  }

  /** Removes the frames and returns a copy, which stays valid while new frames are appended. */
  public byte[] take() {
    byte[] taken = frames.toByteArray();
    frames.clear();
    return taken;
  }

  /** Holds no memory until the next frame. */
  public void release() {
    frames.release();
  }

  /** A reader must get exactly the written value. An empty id would erase the last id. */
  private static void check(@Nullable String type, @Nullable String id, @Nullable Duration retry) {
    if ("".equals(type) || "".equals(id)) {
      throw new IllegalArgumentException("event type or id is empty");
    }
    if (type != null) {
      requireOneLine("event type", type);
    }
    if (id != null) {
      requireIdOrEmpty(id);
    }
    if (retry != null && retry.isNegative()) {
      throw new IllegalArgumentException("retry is negative");
    }
  }

  /** Requires an id of one line without NUL: readers ignore other ids. */
  static void requireIdOrEmpty(String id) {
    requireOneLine("event id", id);
    if (id.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("event id holds NUL");
    }
  }

  /** No line end: it would start another field. */
  private static void requireOneLine(String what, String text) {
    boolean surrogates = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\r' || c == '\n') {
        throw new IllegalArgumentException(what + " holds CR or LF");
      }
      surrogates |= Character.isSurrogate(c);
    }
    if (surrogates && !UTF_8.newEncoder().canEncode(text)) {
      throw new IllegalArgumentException(what + " holds an unpaired surrogate");
    }
  }

  private void field(byte[] nameAndColon, String value) {
    frames.append(nameAndColon, 0, nameAndColon.length);
    frames.appendText(value);
    frames.append((byte) '\n');
  }

  private void dataLines(byte[] data) {
    int start = 0;
    int lineEnd = Utf8.lineEnd(data, start, data.length);
    while (lineEnd < data.length) {
      dataLine(data, start, lineEnd);
      start = lineEnd + 1;
      if (data[lineEnd] == '\r' && start < data.length && data[start] == '\n') {
        start++;
      }
      lineEnd = Utf8.lineEnd(data, start, data.length);
    }
    dataLine(data, start, data.length);
  }

  private void dataLine(byte[] data, int from, int to) {
    frames.append(DATA, 0, DATA.length);
    frames.append(data, from, to - from);
    frames.append((byte) '\n');
  }
}
