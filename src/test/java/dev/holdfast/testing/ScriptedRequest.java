package dev.holdfast.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A request as it came over the wire.
 *
 * @param method the method
 * @param target path and query
 * @param headers by their names in lower case; values of a header that came twice are joined
 * @param body the body, empty when there is none
 */
public record ScriptedRequest(
    String method, String target, Map<String, String> headers, String body) {

  /** The value of a header, by its name in lower case. */
  public @Nullable String header(String name) {
    return headers.get(name);
  }

  /** Reads a request; null when the connection was closed instead. */
  public static @Nullable ScriptedRequest read(InputStream in) throws IOException {
    String first = line(in);
    if (first.isEmpty()) {
      return null;
    }
    Map<String, String> headers = new TreeMap<>();
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      String[] parts = line.split(":", 2);
      headers.merge(parts[0].toLowerCase(Locale.ROOT), parts[1].strip(), (a, b) -> a + ", " + b);
    }
    int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
    String body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
    String[] parts = first.split(" ", 3);
    return new ScriptedRequest(parts[0], parts[1], headers, body);
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    int next;
    while ((next = in.read()) >= 0 && next != '\n') {
      if (next != '\r') {
        line.write(next);
      }
    }
    return line.toString(StandardCharsets.ISO_8859_1);
  }
}
