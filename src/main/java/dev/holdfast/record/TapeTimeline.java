package dev.holdfast.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Message;
import dev.holdfast.record.TapeEntry.Sender;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A tape for people to read: a line for each message, with its time since the first one, and a
 * column for each stream. A column serves another stream after the last message of its stream. The
 * first column has the messages of the client that open no stream.
 */
public final class TapeTimeline {

  private static final int FIRST_WIDTH = 29;
  private static final int WIDTH = 46;

  /** Entries of each stream that are not printed yet. */
  private final Map<String, Long> left = new HashMap<>();

  private final List<@Nullable String> columns = new ArrayList<>();
  private final Consumer<String> lines;
  private @Nullable Instant start;

  private TapeTimeline(Consumer<String> lines) {
    this.lines = lines;
    columns.add("");
  }

  /**
   * Prints a tape. Reads it twice, and keeps the names of its streams only.
   *
   * @param lines gets the lines, which may contain any characters of the messages except line ends
   * @throws TapeException before the first line, as {@link Tape#read} does
   */
  public static void print(Path tape, Consumer<String> lines) throws TapeException {
    TapeTimeline timeline = new TapeTimeline(lines);
    boolean cut = Tape.forEach(tape, entry -> timeline.left.merge(stream(entry), 1L, Long::sum));
    boolean _ = Tape.forEach(tape, timeline::print);
    if (cut) {
      lines.accept("The tape is cut here.");
    }
  }

  private void print(TapeEntry entry) {
    start = Objects.requireNonNullElse(start, entry.time());
    Duration time = Duration.between(start, entry.time());
    String stream = stream(entry);
    for (String text : texts(entry)) {
      lines.accept(line(time, column(stream), text));
    }
    if (left.merge(stream, -1L, Long::sum) <= 0 && !stream.isEmpty()) {
      columns.replaceAll(each -> stream.equals(each) ? null : each);
    }
  }

  private static String stream(TapeEntry entry) {
    return switch (entry) {
      case TapeEntry.Sent sent -> Objects.requireNonNullElse(sent.stream(), "");
      case TapeEntry.Failed failed -> failed.stream();
      case TapeEntry.Missing _ -> "";
    };
  }

  /** The column of a stream; a free one if it has none yet. */
  private int column(String stream) {
    int column = columns.indexOf(stream);
    if (column < 0) {
      column = columns.indexOf(null);
    }
    if (column < 0) {
      column = columns.size();
      columns.add(stream);
    }
    columns.set(column, stream);
    return column;
  }

  private String line(Duration time, int column, String text) {
    StringBuilder line = new StringBuilder();
    line.append(String.format(Locale.ROOT, "%9.3f ", time.toMillis() / 1000.0));
    for (int i = 0; i < columns.size(); i++) {
      String cell = i == column ? text : i == 0 || columns.get(i) == null ? "" : "│";
      line.append(' ').append(padded(cell, i == 0 ? FIRST_WIDTH : WIDTH));
    }
    return line.toString().stripTrailing();
  }

  private static String padded(String cell, int width) {
    int length = cell.codePointCount(0, cell.length());
    return length <= width
        ? cell + " ".repeat(width - length)
        : cell.substring(0, cell.offsetByCodePoints(0, width - 1)) + "…";
  }

  private static List<String> texts(TapeEntry entry) {
    return switch (entry) {
      case TapeEntry.Missing missing -> List.of(missing.messages() + " messages are missing");
      case TapeEntry.Failed failed -> List.of(failed.stream() + " failed: " + failed.reason());
      case TapeEntry.Sent sent -> {
        String from =
            Objects.requireNonNullElse(sent.stream(), "")
                + (sent.from() == Sender.CLIENT ? "→ " : "← ");
        yield sent.body().messages().stream().map(message -> from + text(message)).toList();
      }
    };
  }

  private static String text(Message message) {
    JsonNode json = TapeJson.tree(message.bytes());
    return switch (message) {
      case Message.Request(_, String method, String tool, _, _, _) when tool != null ->
          method + " " + tool + text(json.at("/params/arguments"));
      case Message.Request request -> request.method() + text(params(json));
      case Message.Notification notification -> notification.method() + text(params(json));
      case Message.Response response when response.error() ->
          "error" + text(json.at("/error/code")) + text(json.at("/error/message"));
      case Message.Response _ -> "result" + text(json.path("result"));
    };
  }

  private static JsonNode params(JsonNode message) {
    JsonNode params = message.path("params");
    if (params instanceof ObjectNode object) {
      object.remove("progressToken");
    }
    return params;
  }

  private static String text(JsonNode json) {
    return json.isMissingNode() || (json.isContainerNode() && json.isEmpty()) ? "" : " " + json;
  }
}
