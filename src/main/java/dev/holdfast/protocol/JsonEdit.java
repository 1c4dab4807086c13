package dev.holdfast.protocol;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Edits members of a JSON object, and leaves the bytes of all others as they are. Reads the object
 * once, however many edits there are. For one thread.
 */
public final class JsonEdit {

  /** Edits of an object, by the names of its members. */
  private static final class Edits {
    /** New values, raw; null for members to remove. */
    final Map<String, @Nullable String> values = new LinkedHashMap<>();

    /** Names of members that keep the value that they have. */
    final Set<String> defaults = new HashSet<>();

    final Map<String, Edits> objects = new LinkedHashMap<>();

    boolean inserts() {
      return values.values().stream().anyMatch(value -> value != null)
          || objects.values().stream().anyMatch(Edits::inserts);
    }
  }

  /** The bytes so far. */
  private static final class Output extends ByteArrayOutputStream {
    Output(int size) {
      super(size);
    }

    boolean endsWithBrace() {
      return buf[count - 1] == '{';
    }
  }

  private final Edits root = new Edits();

  /**
   * Sets a member. Adds it if it is missing, with the objects around it.
   *
   * @param json the new value, raw
   * @param path the names of the objects around the member, and its own. Other values in place of
   *     these objects are replaced
   */
  public JsonEdit set(String json, String... path) {
    at(path).values.put(path[path.length - 1], json);
    return this;
  }

  /** Adds a member unless it is there, with the objects around it. */
  public JsonEdit add(String json, String... path) {
    at(path).defaults.add(path[path.length - 1]);
    return set(json, path);
  }

  /** Removes a member if it is there. */
  public JsonEdit remove(String... path) {
    at(path).values.put(path[path.length - 1], null);
    return this;
  }

  private Edits at(String[] path) {
    Edits edits = root;
    for (int i = 0; i < path.length - 1; i++) {
      edits = edits.objects.computeIfAbsent(path[i], _ -> new Edits());
    }
    return edits;
  }

  /**
   * Returns the object with all edits.
   *
   * @param json an object in valid JSON
   */
  public byte[] apply(byte[] json) {
    Output out = new Output(json.length + 64);
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(json)) {
      if (parser.nextToken() == JsonToken.START_OBJECT) {
        copyObject(parser, json, root, out);
        return out.toByteArray();
      }
      return json;
    } catch (IOException invalid) {
      throw new UncheckedIOException(invalid);
    }
  }

  private static void copyObject(JsonParser parser, byte[] json, Edits edits, Output out)
      throws IOException {
    Set<String> seen = new HashSet<>();
    out.write('{');
    int end = offset(parser);
    String name;
    while ((name = parser.nextFieldName()) != null) {
      int from = skipToName(json, end);
      JsonToken value = parser.nextToken();
      int valueFrom = (int) parser.currentTokenLocation().getByteOffset();
      Edits inner = edits.objects.get(name);
      if (inner != null && value == JsonToken.START_OBJECT) {
        seen.add(name);
        separate(out);
        out.write(json, from, valueFrom - from);
        copyObject(parser, json, inner, out);
        end = offset(parser);
        continue;
      }
      parser.skipChildren();
      parser.finishToken();
      end = offset(parser);
      boolean stays = !edits.values.containsKey(name) || edits.defaults.contains(name);
      String edited = stays ? null : edits.values.get(name);
      boolean kept = stays && (inner == null || !inner.inserts());
      if (kept || edited != null) {
        seen.add(name);
        separate(out);
        out.write(json, from, (kept ? end : valueFrom) - from);
      }
      if (edited != null) {
        out.write(edited.getBytes(StandardCharsets.UTF_8));
      }
    }
    insert(edits, seen, out);
    out.write('}');
  }

  /** Adds the members that the object did not have. */
  private static void insert(Edits edits, Set<String> seen, Output out) throws IOException {
    for (Map.Entry<String, @Nullable String> each : edits.values.entrySet()) {
      if (each.getValue() != null && !seen.contains(each.getKey())) {
        writeName(each.getKey(), out);
        out.write(each.getValue().getBytes(StandardCharsets.UTF_8));
      }
    }
    for (Map.Entry<String, Edits> each : edits.objects.entrySet()) {
      if (!seen.contains(each.getKey()) && each.getValue().inserts()) {
        writeName(each.getKey(), out);
        out.write('{');
        insert(each.getValue(), Set.of(), out);
        out.write('}');
      }
    }
  }

  private static void writeName(String name, Output out) throws IOException {
    separate(out);
    out.write(quote(name).getBytes(StandardCharsets.UTF_8));
    out.write(':');
  }

  /** Writes a comma unless an object has just begun. */
  private static void separate(Output out) {
    if (!out.endsWithBrace()) {
      out.write(',');
    }
  }

  private static int skipToName(byte[] json, int from) {
    int at = from;
    while (json[at] != '"') {
      at++;
    }
    return at;
  }

  private static int offset(JsonParser parser) {
    return (int) parser.currentLocation().getByteOffset();
  }

  /**
   * Returns the value of a member as it stands in the JSON; null if there is none.
   *
   * @param json valid JSON
   * @param path the names of the objects around the member, and its own
   */
  public static @Nullable String raw(byte[] json, String... path) {
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(json)) {
      int depth = 0;
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      String name;
      while ((name = parser.nextFieldName()) != null) {
        JsonToken value = parser.nextToken();
        if (!name.equals(path[depth])) {
          parser.skipChildren();
          continue;
        }
        depth++;
        if (depth < path.length && value == JsonToken.START_OBJECT) {
          continue;
        }
        if (depth < path.length) {
          return null;
        }
        int from = (int) parser.currentTokenLocation().getByteOffset();
        parser.skipChildren();
        parser.finishToken();
        return new String(json, from, offset(parser) - from, StandardCharsets.UTF_8);
      }
      return null;
    } catch (IOException invalid) {
      throw new UncheckedIOException(invalid);
    }
  }

  /** Returns the raw members of an object, in order; empty for another value or none. */
  public static Map<String, String> members(@Nullable String json) {
    Map<String, String> members = new LinkedHashMap<>();
    parts(json, JsonToken.START_OBJECT, members::put);
    return members;
  }

  /** Returns the raw elements of an array, in order; empty for another value or none. */
  public static List<String> elements(@Nullable String json) {
    List<String> elements = new ArrayList<>();
    parts(json, JsonToken.START_ARRAY, (_, element) -> elements.add(element));
    return elements;
  }

  private static void parts(
      @Nullable String text, JsonToken start, BiConsumer<String, String> action) {
    byte[] json = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(json)) {
      if (parser.nextToken() != start) {
        return;
      }
      while (!parser.nextToken().isStructEnd()) {
        String name = "";
        if (start == JsonToken.START_OBJECT) {
          name = parser.currentName();
          parser.nextToken();
        }
        int from = (int) parser.currentTokenLocation().getByteOffset();
        parser.skipChildren();
        parser.finishToken();
        action.accept(name, new String(json, from, offset(parser) - from, StandardCharsets.UTF_8));
      }
    } catch (IOException invalid) {
      throw new UncheckedIOException(invalid);
    }
  }

  /** Returns a text as a JSON string. */
  public static String quote(String text) {
    return '"' + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
  }

  /** Returns the text of a JSON string; null if the JSON is no string. */
  public static @Nullable String text(@Nullable String json) {
    if (json == null || !json.startsWith("\"")) {
      return null;
    }
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(json)) {
      return parser.nextTextValue();
    } catch (IOException invalid) {
      throw new UncheckedIOException(invalid);
    }
  }
}
