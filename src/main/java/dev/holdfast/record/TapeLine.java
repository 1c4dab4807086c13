package dev.holdfast.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Utf8;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes and reads the lines of a tape. Messages keep their exact bytes. */
final class TapeLine {

  static final int VERSION = 1;

  private TapeLine() {}

  static byte[] header(Instant time, String upstream, int part) {
    return line(
        "{\"tape\":%d,%s,\"upstream\":%s,\"part\":%d}"
            .formatted(VERSION, time(time), quoted(upstream), part));
  }

  static byte[] missing(Instant time, long messages) {
    return line("{%s,\"missing\":%d}".formatted(time(time), messages));
  }

  static byte[] failed(Instant time, String stream, String reason) {
    return line(
        "{%s,\"stream\":%s,\"failure\":%s}".formatted(time(time), quoted(stream), quoted(reason)));
  }

  /** A line with a message, or one that says that an invalid message is missing. */
  static byte[] sent(
      Instant time, TapeEntry.Sender from, @Nullable String stream, long position, byte[] message) {
    if (!isMessage(message)) {
      return missing(time, 1); // Such a line would make the whole tape unreadable.
    }
    ByteArrayOutputStream line = new ByteArrayOutputStream(message.length + 128);
    String place =
        stream == null ? "" : ",\"stream\":%s,\"position\":%d".formatted(quoted(stream), position);
    line.writeBytes(
        "{%s,\"from\":\"%s\"%s,\"message\":"
            .formatted(time(time), from.wire(), place)
            .getBytes(UTF_8));
    line.writeBytes(Utf8.singleLine(message));
    line.writeBytes(line("}"));
    return line.toByteArray();
  }

  private static boolean isMessage(byte[] message) {
    try {
      Envelopes.read(message);
      return true;
    } catch (EnvelopeException invalid) {
      return false;
    }
  }

  private static byte[] line(String json) {
    return (json + "\n").getBytes(UTF_8);
  }

  private static String time(Instant time) {
    return "\"time\":\"" + time + "\"";
  }

  private static String quoted(String text) {
    return "\"" + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + "\"";
  }

  /**
   * Reads the first line of a file. Ignores fields that it does not know, as {@link #readEntry}.
   *
   * @return the name of the upstream
   * @throws IOException if the line is not JSON
   * @throws IllegalArgumentException if it is JSON and not a first line
   */
  static String readHeader(byte[] line) throws IOException {
    JsonNode fields = TapeJson.line(line);
    if (!fields.has("tape")) {
      throw misplacedHeader();
    }
    if (number(fields, "tape") != VERSION) {
      throw new IllegalArgumentException(
          "a tape of version %d; this program reads version %d"
              .formatted(number(fields, "tape"), VERSION));
    }
    return text(fields, "upstream");
  }

  private static IllegalArgumentException misplacedHeader() {
    return new IllegalArgumentException("the first line, and no other, is a header");
  }

  /** Reads any other line. Throws as {@link #readHeader} does. */
  static TapeEntry readEntry(byte[] line) throws IOException {
    JsonNode fields = TapeJson.line(line);
    if (fields.has("tape")) {
      throw misplacedHeader();
    }
    Instant time = time(fields);
    if (fields.has("missing")) {
      return new TapeEntry.Missing(time, number(fields, "missing"));
    }
    if (fields.has("failure")) {
      return new TapeEntry.Failed(time, text(fields, "stream"), text(fields, "failure"));
    }
    String sender = text(fields, "from");
    TapeEntry.Sender from =
        Stream.of(TapeEntry.Sender.values())
            .filter(each -> each.wire().equals(sender))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("from must be client or server"));
    String stream = fields.path("stream").textValue();
    if (stream == null && from == TapeEntry.Sender.SERVER) {
      throw new IllegalArgumentException("no stream");
    }
    long position = stream == null ? 0 : number(fields, "position");
    try {
      return new TapeEntry.Sent(time, from, stream, position, Envelopes.read(message(line)));
    } catch (EnvelopeException e) {
      throw new IllegalArgumentException("the message is not JSON-RPC: " + e.getMessage(), e);
    }
  }

  private static byte[] message(byte[] line) {
    TapeJson.Range range = TapeJson.find(line, "message");
    if (range == null) {
      throw new IllegalArgumentException("no message");
    }
    return Arrays.copyOfRange(line, range.from(), range.to());
  }

  private static String text(JsonNode fields, String name) {
    String text = fields.path(name).textValue();
    if (text == null) {
      throw new IllegalArgumentException("no " + name);
    }
    return text;
  }

  private static long number(JsonNode fields, String name) {
    if (!fields.path(name).isIntegralNumber()) {
      throw new IllegalArgumentException("no " + name);
    }
    return fields.path(name).longValue();
  }

  private static Instant time(JsonNode fields) {
    try {
      return Instant.parse(text(fields, "time"));
    } catch (DateTimeException e) {
      throw new IllegalArgumentException("time is not a time of ISO 8601", e);
    }
  }
}
