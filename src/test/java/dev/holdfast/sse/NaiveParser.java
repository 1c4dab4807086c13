package dev.holdfast.sse;

import dev.holdfast.protocol.Utf8;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The algorithm of the standard, on a decoded string. The real parser must find the same. */
final class NaiveParser {

  private final List<Received.Item> items = new ArrayList<>();
  private String data = "";
  private String type = "";
  private String id = "";

  private NaiveParser() {}

  static List<Received.Item> parse(byte[] document) {
    String text = Utf8.decode(document, 0, document.length);
    if (text.startsWith("\uFEFF")) {
      text = text.substring(1);
    }
    NaiveParser parser = new NaiveParser();
    String[] lines = text.replace("\r\n", "\n").replace('\r', '\n').split("\n", -1);
    // The text after the last line end is an unfinished line.
    for (int i = 0; i < lines.length - 1; i++) {
      parser.line(lines[i]);
    }
    return parser.items;
  }

  private void line(String line) {
    int colon = line.indexOf(':');
    if (line.isEmpty()) {
      dispatch();
    } else if (colon == 0) {
      items.add(new Received.Comment());
    } else if (colon > 0) {
      String value = line.substring(colon + 1);
      field(line.substring(0, colon), value.startsWith(" ") ? value.substring(1) : value);
    } else {
      field(line, "");
    }
  }

  private void field(String name, String value) {
    switch (name) {
      case "event" -> type = value;
      case "data" -> data += value + "\n";
      case "id" -> id = value.contains("\0") ? id : value;
      case "retry" -> {
        if (value.matches("[0-9]+")) {
          BigInteger millis = new BigInteger(value).min(BigInteger.valueOf(Integer.MAX_VALUE));
          items.add(new Received.Retry(Duration.ofMillis(millis.longValueExact())));
        }
      }
      default -> {
        // Ignored by the standard.
      }
    }
  }

  private void dispatch() {
    if (!data.isEmpty()) {
      String withoutLastLineFeed = data.substring(0, data.length() - 1);
      items.add(new Received.Event(type.isEmpty() ? "message" : type, id, withoutLastLineFeed));
    }
    data = "";
    type = "";
  }
}
