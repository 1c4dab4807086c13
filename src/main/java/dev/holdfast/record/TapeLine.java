package dev.holdfast.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Utf8;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes and reads the lines of a tape. Messages keep their exact bytes. */
final class TapeLine {

  static final int VERSION = 1;

  private TapeLine() {}

  /** Makes the bytes of a line on the thread that writes. */
  @FunctionalInterface
  interface Writer {
    byte[] toBytes();
  }

  /** A line that was read. */
  sealed interface Line {

    /** The first line of each file of a tape. */
    record Header(Instant time, String upstream, long part) implements Line {}

    record Of(TapeEntry entry) implements Line {}
  }

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
   * Reads a line. Ignores fields that it does not know.
   *
   * @throws IOException if the line is not JSON
   * @throws IllegalArgumentException if it is JSON and not a line of a tape
   */
  static Line read(byte[] line) throws IOException {
    Fields fields = Fields.read(line);
    if (fields.numbers.containsKey("tape")) {
      if (fields.number("tape") != VERSION) {
        throw new IllegalArgumentException(
            "a tape of version %d; this program reads version %d"
                .formatted(fields.number("tape"), VERSION));
      }
      return new Line.Header(fields.time(), fields.text("upstream"), fields.number("part"));
    }
    return new Line.Of(entry(fields));
  }

  private static TapeEntry entry(Fields fields) {
    Instant time = fields.time();
    if (fields.numbers.containsKey("missing")) {
      return new TapeEntry.Missing(time, fields.number("missing"));
    }
    if (fields.texts.containsKey("failure")) {
      return new TapeEntry.Failed(time, fields.text("stream"), fields.text("failure"));
    }
    byte[] message = fields.message;
    if (message == null) {
      throw new IllegalArgumentException("no message");
    }
    String sender = fields.text("from");
    TapeEntry.Sender from =
        Stream.of(TapeEntry.Sender.values())
            .filter(each -> each.wire().equals(sender))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("from must be client or server"));
    String stream = fields.texts.get("stream");
    if (stream == null && from == TapeEntry.Sender.SERVER) {
      throw new IllegalArgumentException("no stream");
    }
    try {
      return new TapeEntry.Sent(
          time,
          from,
          stream,
          stream == null ? 0 : fields.number("position"),
          Envelopes.read(message));
    } catch (EnvelopeException e) {
      throw new IllegalArgumentException("the message is not JSON-RPC: " + e.getMessage(), e);
    }
  }

  /** The fields of one line. */
  private static final class Fields {
    private final Map<String, String> texts = new HashMap<>();
    private final Map<String, Long> numbers = new HashMap<>();
    private byte @Nullable [] message;

    static Fields read(byte[] line) throws IOException {
      Fields fields = new Fields();
      try (JsonParser parser = TapeJson.parser(line)) {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
          throw new IllegalArgumentException("not a JSON object");
        }
        String name;
        while ((name = parser.nextFieldName()) != null) {
          JsonToken value = parser.nextToken();
          if (name.equals("message")) {
            int from = (int) parser.currentTokenLocation().getByteOffset();
            parser.skipChildren();
            fields.message =
                Arrays.copyOfRange(line, from, (int) parser.currentLocation().getByteOffset());
          } else if (value == JsonToken.VALUE_STRING) {
            fields.texts.put(name, parser.getText());
          } else if (value == JsonToken.VALUE_NUMBER_INT) {
            fields.numbers.put(name, parser.getLongValue());
          } else {
            parser.skipChildren();
          }
        }
        if (parser.nextToken() != null) {
          throw new IllegalArgumentException("more than one JSON object");
        }
      }
      return fields;
    }

    String text(String name) {
      return required(name, texts.get(name));
    }

    long number(String name) {
      return required(name, numbers.get(name));
    }

    Instant time() {
      try {
        return Instant.parse(text("time"));
      } catch (DateTimeException e) {
        throw new IllegalArgumentException("time is not a time of ISO 8601", e);
      }
    }

    private static <T> T required(String name, @Nullable T value) {
      if (value == null) {
        throw new IllegalArgumentException("no " + name);
      }
      return value;
    }
  }
}
