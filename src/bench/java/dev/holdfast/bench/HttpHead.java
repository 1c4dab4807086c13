package dev.holdfast.bench;

import java.util.Map;

/**
 * The head of a request or a response.
 *
 * @param start its first line
 * @param fields its header fields; the names are in lower case
 */
record HttpHead(String start, Map<String, String> fields) {

  HttpHead {
    fields = Map.copyOf(fields);
  }

  /** The status code of a response. */
  int status() {
    return Integer.parseInt(start.substring(9, 12));
  }

  /** The method of a request. */
  String method() {
    return start.substring(0, start.indexOf(' '));
  }

  /** The value of a field; empty if it is not there. */
  String field(String name) {
    return fields.getOrDefault(name, "");
  }

  boolean isChunked() {
    return field("transfer-encoding").equalsIgnoreCase("chunked");
  }

  boolean isEventStream() {
    return field("content-type").startsWith("text/event-stream");
  }

  /** Whether an event stream follows that lasts as long as the connection. */
  boolean isEndless() {
    return isEventStream() && !isChunked();
  }

  /** How long the body is, when it is not chunked. */
  int length() {
    return Integer.parseInt(fields.getOrDefault("content-length", "0"));
  }
}
