package dev.holdfast.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Utf8;
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
    ObjectNode header = JsonNodeFactory.instance.objectNode().put("tape", VERSION);
    return line(header.put("time", time.toString()).put("upstream", upstream).put("part", part));
  }

  static byte[] missing(Instant time, long messages) {
    return line(at(time).put("missing", messages));
  }

  static byte[] failed(Instant time, String stream, String reason) {
    return line(at(time).put("stream", stream).put("failure", reason));
  }

  /** A line with a message, or one that says that an invalid message is missing. */
  static byte[] sent(
      Instant time, TapeEntry.Sender from, @Nullable String stream, long position, byte[] message) {
    ObjectNode line = at(time).put("from", from.wire());
    if (stream != null) {
      line.put("stream", stream).put("position", position);
    }
    try {
      Envelopes.read(message);
    } catch (EnvelopeException invalid) {
      return missing(time, 1); // Such a line would make the whole tape unreadable.
    }
    String json = new String(Utf8.singleLine(message), UTF_8);
    return line(line.putRawValue("message", new RawValue(json)));
  }

  private static ObjectNode at(Instant time) {
    return JsonNodeFactory.instance.objectNode().put("time", time.toString());
  }

  private static byte[] line(JsonNode json) {
    return (json + "\n").getBytes(UTF_8);
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
