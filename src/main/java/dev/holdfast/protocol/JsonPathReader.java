package dev.holdfast.protocol;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Picks strings out of a message by their paths, such as {@code params.clientInfo.name}. For the
 * few messages that are looked into a second time.
 */
final class JsonPathReader {

  private final Map<String, String> found = new HashMap<>();

  private JsonPathReader() {}

  /**
   * @param object a JSON object that was already read once, so that it is known to be JSON
   * @param paths names joined by dots; of a member that is given twice the last one counts
   */
  static JsonPathReader read(byte[] object, String... paths) {
    JsonPathReader strings = new JsonPathReader();
    try (JsonParser parser = JsonBytes.FACTORY.createParser(object)) {
      parser.nextToken();
      strings.readObject(parser, "", Set.of(paths));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return strings;
  }

  private void readObject(JsonParser parser, String prefix, Set<String> paths) throws IOException {
    String name;
    while ((name = parser.nextFieldName()) != null) {
      // No wanted name has a dot; one that has it must not pass for two.
      String path = name.indexOf('.') < 0 ? prefix + name : "";
      JsonToken value = parser.nextToken();
      if (value == JsonToken.VALUE_STRING && paths.contains(path)) {
        found.put(path, parser.getText());
      } else if (value == JsonToken.START_OBJECT && leadsToAny(path, paths)) {
        readObject(parser, path + ".", paths);
      } else {
        parser.skipChildren();
      }
    }
  }

  private static boolean leadsToAny(String path, Set<String> paths) {
    return paths.stream().anyMatch(wanted -> wanted.startsWith(path + "."));
  }

  @Nullable String get(String path) {
    return found.get(path);
  }
}
