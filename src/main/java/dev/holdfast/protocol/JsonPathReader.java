package dev.holdfast.protocol;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Reads strings of a message by their paths, such as {@code params.clientInfo.name}. Used for the
 * few messages whose content the gateway needs.
 */
final class JsonPathReader {

  private JsonPathReader() {}

  /**
   * Returns the strings by path. If a member occurs twice, the last one counts.
   *
   * @param object a JSON object that {@link Envelopes} has checked
   * @param paths names joined by dots
   */
  static Map<String, String> read(byte[] object, String... paths) {
    Map<String, String> found = new HashMap<>();
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(object)) {
      parser.nextToken();
      readObject(parser, "", Set.of(paths), found);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  private static void readObject(
      JsonParser parser, String prefix, Set<String> paths, Map<String, String> found)
      throws IOException {
    String name;
    while ((name = parser.nextFieldName()) != null) {
      // A name with a dot must not be taken for two names.
      String path = name.indexOf('.') < 0 ? prefix + name : "";
      JsonToken value = parser.nextToken();
      if (value == JsonToken.VALUE_STRING && paths.contains(path)) {
        found.put(path, parser.getText());
      } else if (value == JsonToken.START_OBJECT
          && paths.stream().anyMatch(wanted -> wanted.startsWith(path + "."))) {
        readObject(parser, path + ".", paths, found);
      } else {
        parser.skipChildren();
      }
    }
  }
}
