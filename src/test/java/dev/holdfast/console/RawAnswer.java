package dev.holdfast.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * An answer to a request with any headers, also those that clients of the JDK keep to themselves.
 */
public record RawAnswer(int status, String head, String body) {

  /** Sends a request without a body. */
  public static RawAnswer to(URI url, String method, Map<String, String> headers)
      throws IOException {
    return to(url, method, headers, "");
  }

  /** Sends a request. */
  public static RawAnswer to(URI url, String method, Map<String, String> headers, String body)
      throws IOException {
    Map<String, String> all = new TreeMap<>(headers);
    all.putIfAbsent("Host", url.getAuthority());
    all.put("Connection", "close");
    if (!body.isEmpty()) {
      all.put("Content-Length", Integer.toString(body.length()));
    }
    String query = url.getRawQuery() == null ? "" : "?" + url.getRawQuery();
    StringBuilder head =
        new StringBuilder(method + " " + url.getRawPath() + query + " HTTP/1.1\r\n");
    all.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    try (Socket socket = new Socket(url.getHost(), url.getPort())) {
      socket.getOutputStream().write((head + "\r\n" + body).getBytes(UTF_8));
      return parse(new String(socket.getInputStream().readAllBytes(), UTF_8));
    }
  }

  private static RawAnswer parse(String text) {
    int end = text.indexOf("\r\n\r\n");
    String head = text.substring(0, end);
    return new RawAnswer(Integer.parseInt(head.split(" ", 3)[1]), head, text.substring(end + 4));
  }

  /** The first value of a header, or nothing. */
  public String header(String name) {
    return headers(name).stream().findFirst().orElse("");
  }

  /** All values of a header. */
  public List<String> headers(String name) {
    String start = name.toLowerCase(Locale.ROOT) + ": ";
    return head.lines()
        .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(start))
        .map(line -> line.substring(start.length()))
        .toList();
  }
}
