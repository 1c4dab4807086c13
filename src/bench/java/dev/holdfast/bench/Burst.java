package dev.holdfast.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Message;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What the tool {@code burst} sends: so many progress notifications, and then its result. Each
 * notification carries its number, from 1 on, as {@code progress}, and as {@code sent} the {@link
 * System#nanoTime()} at which it was written; on Linux that clock is the same for all processes of
 * a machine.
 *
 * @param request the raw JSON of the request's id
 * @param count how many notifications there are
 * @param intervalUs microseconds from one to the next; 0 for as fast as it goes, several to a write
 * @param size bytes of filling in each
 * @param delayMs milliseconds before the first
 * @param done how many were sent on an earlier connection
 * @param ids whether events have ids, with which {@link #after} goes on
 */
record Burst(
    String request, int count, int intervalUs, int size, int delayMs, int done, boolean ids) {

  private static final int BATCH = 8 << 10;
  private static final JsonNumber COUNT = new JsonNumber("count");
  private static final JsonNumber INTERVAL = new JsonNumber("intervalUs");
  private static final JsonNumber SIZE = new JsonNumber("size");
  private static final JsonNumber DELAY = new JsonNumber("delayMs");

  /** The burst that a request asks for. */
  static Burst of(Message.Request request, boolean ids) {
    byte[] json = request.bytes();
    return new Burst(
        request.id().json(),
        argument(COUNT, json),
        argument(INTERVAL, json),
        argument(SIZE, json),
        argument(DELAY, json),
        0,
        ids);
  }

  /** The rest of a burst. The event id says all about it, so that nothing need be remembered. */
  static Burst after(String eventId) {
    List<String> parts = List.of(eventId.split(":", 5));
    return new Burst(
        parts.get(4),
        Integer.parseInt(parts.get(1)),
        Integer.parseInt(parts.get(2)),
        Integer.parseInt(parts.get(3)),
        0,
        Integer.parseInt(parts.get(0)),
        true);
  }

  /** Writes it as a body in chunked coding, at its pace. */
  void write(OutputStream out) throws IOException {
    long begin = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs);
    String filling = "x".repeat(size);
    StringBuilder text = new StringBuilder();
    for (int number = done + 1; number <= count; number++) {
      awaitTime(begin + TimeUnit.MICROSECONDS.toNanos((number - done - 1L) * intervalUs));
      progress(text, number, filling);
      if (intervalUs > 0 || text.length() >= BATCH) {
        chunk(out, text);
      }
    }
    if (done <= count) {
      result(text);
      chunk(out, text);
    }
    out.write("0\r\n\r\n".getBytes(UTF_8));
  }

  /** Publishes each message by itself, at its pace. */
  void publish(NchanPublisher publisher) {
    long begin = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs);
    String filling = "x".repeat(size);
    for (int number = 1; number <= count; number++) {
      awaitTime(begin + TimeUnit.MICROSECONDS.toNanos((number - 1L) * intervalUs));
      StringBuilder text = new StringBuilder();
      progress(text, number, filling);
      publisher.publish(data(text));
    }
    StringBuilder text = new StringBuilder();
    result(text);
    publisher.publish(data(text));
  }

  private static String data(StringBuilder event) {
    return event.substring("data: ".length()).strip();
  }

  private void progress(StringBuilder text, int number, String filling) {
    id(text, number);
    text.append("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{")
        .append("\"progressToken\":")
        .append(request)
        .append(",\"progress\":")
        .append(number)
        .append(",\"_meta\":{\"sent\":")
        .append(System.nanoTime())
        .append(",\"filling\":\"")
        .append(filling)
        .append("\"}}}\n\n");
  }

  private void result(StringBuilder text) {
    id(text, count + 1);
    text.append("data: {\"jsonrpc\":\"2.0\",\"id\":")
        .append(request)
        .append(",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n\n");
  }

  private void id(StringBuilder text, int number) {
    if (ids) {
      text.append("id: %d:%d:%d:%d:%s\n".formatted(number, count, intervalUs, size, request));
    }
  }

  private static void chunk(OutputStream out, StringBuilder text) throws IOException {
    byte[] event = text.toString().getBytes(UTF_8);
    text.setLength(0);
    byte[] size = (Integer.toHexString(event.length) + "\r\n").getBytes(UTF_8);
    byte[] chunk = new byte[size.length + event.length + 2];
    System.arraycopy(size, 0, chunk, 0, size.length);
    System.arraycopy(event, 0, chunk, size.length, event.length);
    chunk[chunk.length - 2] = '\r';
    chunk[chunk.length - 1] = '\n';
    out.write(chunk);
  }

  private static void awaitTime(long nanoTime) {
    for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private static int argument(JsonNumber name, byte[] json) {
    return (int) Math.max(0, name.in(json));
  }
}
