package dev.holdfast.protocol;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The JSON text of a {@link RequestId}: one string or number. */
final class RequestIdSyntax {

  private RequestIdSyntax() {}

  /** Returns whether the text is exactly one JSON string or number that UTF-8 can encode. */
  static boolean isStringOrNumber(String json) {
    return isPlainString(json) || isPlainInteger(json) || parsesAsStringOrNumber(json);
  }

  static String quote(String string) {
    return "\"" + new String(JsonStringEncoder.getInstance().quoteAsString(string)) + "\"";
  }

  /**
   * Returns the text with escapes resolved, for comparison. It is not JSON. The quotes stay, so
   * that a string never equals a number.
   */
  static String canonical(String json) {
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
