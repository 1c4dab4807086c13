package dev.holdfast.relay.pump;

import dev.holdfast.protocol.RequestId;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The requests of a stream as the log records them: their ids as JSON, with commas between. */
public final class RequestIds {

  private RequestIds() {}

  public static String write(List<RequestId> ids) {
    return ids.stream().map(RequestId::json).collect(Collectors.joining(","));
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws IllegalArgumentException when it was something else
   */
  public static List<RequestId> read(String text) {
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
        ids.add(RequestId.ofJson(text.substring(from, i)));
        from = i + 1;
      }
    }
    if (from < text.length()) {
      ids.add(RequestId.ofJson(text.substring(from)));
    }
    return ids;
  }
}
