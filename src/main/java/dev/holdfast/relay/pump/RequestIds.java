package dev.holdfast.relay.pump;

import dev.holdfast.protocol.RequestId;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The form in which the log records the requests of a stream: JSON ids, separated by commas. */
public final class RequestIds {

  private RequestIds() {}

  /** Formats ids. */
  public static String format(List<RequestId> ids) {
    return ids.stream().map(RequestId::json).collect(Collectors.joining(","));
  }

  /**
   * Parses what {@link #format} returned.
   *
   * @throws IllegalArgumentException when the text has another form
   */
  public static List<RequestId> parse(String text) {
    List<RequestId> ids = new ArrayList<>();
    int from = 0;
    boolean quoted = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (quoted && c == '\\') {
        i++;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        ids.add(new RequestId(text.substring(from, i)));
        from = i + 1;
      }
    }
    if (from < text.length()) {
      ids.add(new RequestId(text.substring(from)));
    }
    return ids;
  }
}
