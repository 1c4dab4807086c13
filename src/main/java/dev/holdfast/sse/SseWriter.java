package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Encodes frames of a {@code text/event-stream} into its buffer, to be sent with a single write. A
 * refused argument leaves the buffer unchanged.
 *
 * <p>Fields have the order {@code event}, {@code id}, {@code retry}, {@code data} and the form
 * {@code name: value}. Lines end in LF. Not thread-safe.
 */
public final class SseWriter {

  private static final int DEFAULT_RETAINED_BYTES = 4096;

  private static final byte[] EVENT = "event: ".getBytes(US_ASCII);
  private static final byte[] ID = "id: ".getBytes(US_ASCII);
  private static final byte[] RETRY = "retry: ".getBytes(US_ASCII);
  private static final byte[] DATA = "data: ".getBytes(US_ASCII);
  private static final byte[] COMMENT = ": ".getBytes(US_ASCII);
  private static final byte[] NO_DATA = {};

  private final GrowableBytes frames;

  /** Creates a writer that keeps a small buffer between batches. */
  public SseWriter() {
    this(DEFAULT_RETAINED_BYTES);
  }

  /**
   * Creates a writer for batches of about the same size.
   *
   * @param retainedBytes first capacity of the buffer, and its capacity after {@link #clear}
   * @throws IllegalArgumentException if it is negative
   */
  public SseWriter(int retainedBytes) {
    if (retainedBytes < 0) {
      throw new IllegalArgumentException("retainedBytes is negative");
    }
    frames = new GrowableBytes(retainedBytes);
  }

  /**
   * Appends an event with an id and data. Allocates nothing but room in the buffer.
   *
   * @param data UTF-8 text, not checked; split at CRLF, LF and CR into {@code data} lines
   * @throws IllegalArgumentException if the id is empty or holds CR, LF or NUL
   */
  public void event(String id, byte[] data) {
    event(id, data, 0, data.length);
  }

  /** Like {@link #event(String, byte[])}, with a part of an array. */
  public void event(String id, byte[] data, int offset, int length) {
    write(null, id, null, data, offset, length);
  }

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
    write(type, id, retry, data, 0, data.length);
  }

  /**
   * Appends an event without content, which gives the reader a first cursor. Without its empty
   * {@code data} line readers would ignore the id.
   *
   * @param retry the reconnection time, sent in whole milliseconds
   * @throws IllegalArgumentException if the id is empty or holds CR, LF or NUL, or if retry is
   *     negative
   */
  public void priming(String id, Duration retry) {
    write(null, id, retry, NO_DATA, 0, 0);
  }

  /**
   * Appends a reconnection time without an event.
   *
   * @param retry sent in whole milliseconds
   * @throws IllegalArgumentException if it is negative
   */
  public void retry(Duration retry) {
    FieldRules.requireRetry(retry);
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
    FieldRules.requireOneLine("comment", text);
    field(COMMENT, text);
    frames.append((byte) '\n');
  }

  /**
   * The buffer, with the frames from index 0 on. Later frames reuse the array, so clear it only
   * when the write is done.
   */
  public byte[] array() {
    return frames.array();
  }

  /** Size of the frames in {@link #array}, in bytes. */
  public int length() {
    return frames.length();
  }

  /** Removes the frames from the buffer. */
  public void clear() {
    frames.clear();
  }

  /** Removes the frames and returns a copy, which stays valid while new frames are appended. */
  public byte[] take() {
    byte[] taken = frames.toByteArray();
    frames.clear();
    return taken;
  }

  private void write(
      @Nullable String type,
      @Nullable String id,
      @Nullable Duration retry,
      byte[] data,
      int offset,
      int length) {
    Objects.checkFromIndexSize(offset, length, data.length);
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
    dataLines(data, offset, offset + length);
    frames.append((byte) '\n');
  }

  private static void check(@Nullable String type, @Nullable String id, @Nullable Duration retry) {
    if (type != null) {
      FieldRules.requireType(type);
    }
    if (id != null) {
      FieldRules.requireId(id);
    }
    if (retry != null) {
      FieldRules.requireRetry(retry);
    }
  }

  private void field(byte[] nameAndColon, String value) {
    frames.append(nameAndColon, 0, nameAndColon.length);
    frames.appendText(value);
    frames.append((byte) '\n');
  }

  private void dataLines(byte[] data, int from, int to) {
    int start = from;
    int lineEnd = ByteScan.lineEnd(data, start, to);
    while (lineEnd < to) {
      dataLine(data, start, lineEnd);
      start = lineEnd + 1;
      if (data[lineEnd] == '\r' && start < to && data[start] == '\n') {
        start++;
      }
      lineEnd = ByteScan.lineEnd(data, start, to);
    }
    dataLine(data, start, to);
  }

  private void dataLine(byte[] data, int from, int to) {
    frames.append(DATA, 0, DATA.length);
    frames.append(data, from, to - from);
    frames.append((byte) '\n');
  }
}
