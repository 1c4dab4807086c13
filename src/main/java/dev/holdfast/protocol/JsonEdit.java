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
import org.jspecify.annotations.Nullable;

/**
 * Edits members of a JSON object, and leaves the bytes of all others as they are. Reads the object
 * once, however many edits there are. For one thread.
 */
public final class JsonEdit {

  private static final byte[] EMPTY = {'{', '}'};

  /** A member of an object. */
  public interface Member {

    /**
     * Takes the name, and the place of the value in the JSON.
     *
     * @param from offset of the first byte
     * @param to offset after the last byte
     */
    void take(String name, int from, int to);
  }

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

  /** Returns the text of the object with all edits. */
  public String apply(String json) {
    return new String(apply(json.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8);
  }

  /** Returns an object with the members that were set. */
  public byte[] toBytes() {
    return apply(EMPTY);
  }

  /** Returns the text of an object with the members that were set. */
  public String toJson() {
    return new String(toBytes(), StandardCharsets.UTF_8);
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
      int valueFrom = start(parser);
      Edits inner = edits.objects.get(name);
      if (inner != null && value == JsonToken.START_OBJECT) {
        seen.add(name);
        separate(out);
        out.write(json, from, valueFrom - from);
        copyObject(parser, json, inner, out);
        end = offset(parser);
        continue;
      }
      end = end(parser);
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
      return enter(parser, path) ? slice(json, start(parser), end(parser)) : null;
    } catch (IOException invalid) {
      throw new UncheckedIOException(invalid);
    }
  }

  /** Moves to the value at a path; returns false if there is none. */
  private static boolean enter(JsonParser parser, String[] path) throws IOException {
    JsonToken value = parser.nextToken();
    for (String wanted : path) {
      if (value != JsonToken.START_OBJECT) {
        return false;
      }
      String name = parser.nextFieldName();
      while (name != null && !name.equals(wanted)) {
        parser.nextToken();
        parser.skipChildren();
        name = parser.nextFieldName();
      }
      if (name == null) {
        return false;
      }
      value = parser.nextToken();
    }
    return true;
  }

  /** The offset of the value on which the parser stands. */
  private static int start(JsonParser parser) {
    return (int) parser.currentTokenLocation().getByteOffset();
  }

  /** Skips the value on which the parser stands, and returns the offset after it. */
  private static int end(JsonParser parser) throws IOException {
    parser.skipChildren();
    parser.finishToken();
    return offset(parser);
  }

  private static String slice(byte[] json, int from, int to) {
    return new String(json, from, to - from, StandardCharsets.UTF_8);
  }

  /** Visits the members of the object at a path, in order; none of another value. */
  public static void forEachMember(byte[] json, Member action, String... path) {
    parts(json, JsonToken.START_OBJECT, action, path);
  }

  /** Returns the raw members of an object, in order; empty for another value or none. */
  public static Map<String, String> members(@Nullable String json) {
    Map<String, String> members = new LinkedHashMap<>();
    byte[] bytes = bytes(json);
    parts(
        bytes,
        JsonToken.START_OBJECT,
        (name, from, to) -> members.put(name, slice(bytes, from, to)));
    return members;
  }

  /** Returns the raw elements of an array, in order; empty for another value or none. */
  public static List<String> elements(@Nullable String json) {
    List<String> elements = new ArrayList<>();
    byte[] bytes = bytes(json);
    parts(bytes, JsonToken.START_ARRAY, (_, from, to) -> elements.add(slice(bytes, from, to)));
    return elements;
  }

  private static byte[] bytes(@Nullable String json) {
    return json == null ? new byte[0] : json.getBytes(StandardCharsets.UTF_8);
  }

  private static void parts(byte[] json, JsonToken kind, Member action, String... path) {
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(json)) {
      if (!enter(parser, path) || parser.currentToken() != kind) {
        return;
      }
      while (!parser.nextToken().isStructEnd()) {
        String name = "";
        if (kind == JsonToken.START_OBJECT) {
          name = parser.currentName();
          parser.nextToken();
        }
        int from = start(parser);
        action.take(name, from, end(parser));
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
