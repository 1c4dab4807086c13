package dev.holdfast.protocol;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A JSON-RPC request id, kept as the raw JSON text of a string or number. Its type and its spelling
 * stay the same: {@code 1} is not {@code "1"}, {@code 1.0} stays {@code 1.0}, and integers beyond
 * 2<sup>53</sup> lose nothing.
 *
 * <p>Two ids are equal when their texts are equal apart from string escapes: {@code "\u005cu0061"}
 * equals {@code "a"}, because a peer may echo an id with other escapes. Ids are comparable so that
 * a hash map stays fast when a peer chooses ids with equal hashes.
 *
 * @param json the raw JSON token
 */
public record RequestId(String json) implements Comparable<RequestId> {

  private static final char KEY = '#';
  private static final Pattern WITH_KEY = Pattern.compile("[0-9a-f-]{36}/\\d+" + KEY + "[^#]+");

  /**
   * Checks the JSON text.
   *
   * @throws IllegalArgumentException if it is not exactly one JSON string or number, or contains an
   *     unpaired surrogate, which UTF-8 cannot encode
   */
  public RequestId {
    if (!isPlainString(json) && !isPlainInteger(json) && !parsesAsStringOrNumber(json)) {
      throw new IllegalArgumentException("A request id is a JSON string or number");
    }
  }

  /** Returns the id that is this number. */
  public static RequestId of(long number) {
    return new RequestId(Long.toString(number));
  }

  /**
   * Returns the id that is this string, escaped for JSON.
   *
   * @throws IllegalArgumentException if the string contains an unpaired surrogate
   */
  public static RequestId of(String string) {
    return new RequestId(
        "\"" + new String(JsonStringEncoder.getInstance().quoteAsString(string)) + "\"");
  }

  /**
   * Returns the id of a question with a key, which clients of MCP 2026-07-28 get in its place.
   *
   * @param unique a UUID, a slash and a number
   */
  public static RequestId withKey(String unique, String key) {
    return of(unique + KEY + key);
  }

  /** Returns the key of a question: the one of {@link #withKey}, or else the id as a text. */
  public String key() {
    String text = Objects.requireNonNullElse(JsonEdit.text(json), json);
    return WITH_KEY.matcher(text).matches() ? text.substring(text.indexOf(KEY) + 1) : text;
  }

  /** Formats ids as JSON, separated by commas. */
  public static String format(List<RequestId> ids) {
    return ids.size() == 1
        ? ids.getFirst().json()
        : ids.stream().map(RequestId::json).collect(Collectors.joining(","));
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

  @Override
  public boolean equals(Object other) {
    return other instanceof RequestId(String otherJson)
        && (json.equals(otherJson) || canonical(json).equals(canonical(otherJson)));
  }

  @Override
  public int compareTo(RequestId other) {
    return canonical(json).compareTo(canonical(other.json));
  }

  @Override
  public int hashCode() {
    return canonical(json).hashCode();
  }

  /**
   * Returns the text with escapes resolved, for comparison. It is not JSON. The quotes stay, so
   * that a string never equals a number.
   */
  private static String canonical(String json) {
    if (json.indexOf('\\') < 0) {
      return json;
    }
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(utf8(json))) {
      parser.nextToken();
      return "\"" + parser.getText() + "\"";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // Nearly all ids are a counter or a UUID. These two checks save the cost of a parser.

  private static boolean isPlainInteger(String json) {
    int length = json.length();
    if (length == 0 || (length > 1 && json.charAt(0) == '0')) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      char c = json.charAt(i);
      if (c < '0' || c > '9') {
        return false;
      }
    }
    return true;
  }

  private static boolean isPlainString(String json) {
    int last = json.length() - 1;
    if (last < 1 || json.charAt(0) != '"' || json.charAt(last) != '"') {
      return false;
    }
    for (int i = 1; i < last; i++) {
      char c = json.charAt(i);
      if (c < ' ' || c > '~' || c == '"' || c == '\\') {
        return false;
      }
    }
    return true;
  }

  private static boolean parsesAsStringOrNumber(String json) {
    if (json.isEmpty()
        || json.charAt(0) <= ' '
        || json.charAt(json.length() - 1) <= ' '
        || !StandardCharsets.UTF_8.newEncoder().canEncode(json)) {
      return false;
    }
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(utf8(json))) {
      JsonToken token = parser.nextToken();
      return (token == JsonToken.VALUE_STRING || token.isNumeric()) && parser.nextToken() == null;
    } catch (IOException e) {
      return false;
    }
  }

  private static byte[] utf8(String json) {
    return json.getBytes(StandardCharsets.UTF_8);
  }
}
