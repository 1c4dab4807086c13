package dev.holdfast.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Message;
import dev.holdfast.record.TapeEntry.Sender;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A tape for people to read: a line for each message, with its time since the first one, and a
 * column for each stream. A column serves another stream after the last message of its stream. The
 * first column has the messages of the client that open no stream.
 */
public final class TapeTimeline {

  private static final int FIRST_WIDTH = 29;
  private static final int WIDTH = 46;

  private final Map<String, Integer> lastEntry = new HashMap<>();
  private final List<@Nullable String> columns = new ArrayList<>();
  private final List<String> lines = new ArrayList<>();

  private TapeTimeline() {}

  /** The lines, which may contain any characters of the messages except line ends. */
  public static List<String> lines(Tape tape) {
    TapeTimeline timeline = new TapeTimeline();
    timeline.addAll(tape.entries());
    if (tape.cut()) {
      timeline.lines.add("The tape is cut here.");
    }
    return timeline.lines;
  }

  private void addAll(List<TapeEntry> entries) {
    for (int i = 0; i < entries.size(); i++) {
      lastEntry.put(stream(entries.get(i)), i);
    }
    columns.add("");
    lastEntry.put("", Integer.MAX_VALUE);
    for (int i = 0; i < entries.size(); i++) {
      TapeEntry entry = entries.get(i);
      Duration time = Duration.between(entries.getFirst().time(), entry.time());
      for (String text : texts(entry)) {
        lines.add(line(time, column(stream(entry)), text));
      }
      int index = i;
      columns.replaceAll(
          stream -> stream != null && lastEntry.getOrDefault(stream, 0) <= index ? null : stream);
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
      case Message.Request(_, String method, String tool, _, _) when tool != null ->
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
