package dev.holdfast.testing;

import java.util.Optional;

/**
 * One HTTP request on its way through a {@link FaultProxy}.
 *
 * @param connection the connection that it came on, counted from 1
 * @param request its place on that connection, counted from 1
 * @param head request line and headers, as sent
 * @param body the whole body, without chunk framing; empty if there is none
 */
public record Exchange(int connection, int request, String head, String body) {
  /** The first line, such as {@code POST /mcp HTTP/1.1}. */
  public String requestLine() {
    return head.lines().findFirst().orElse("");
  }

  /** The value of the first header of that name, whatever its case. */
  public Optional<String> header(String name) {
    return head.lines()
        .skip(1)
        .filter(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst();
  }

  /** Whether the request line begins with {@code method}. */
  public boolean isA(String method) {
    return head.startsWith(method + " ");
  }

  /** Whether this posts a JSON-RPC message with the given method, such as {@code tools/call}. */
  public boolean calls(String jsonRpcMethod) {
    return body.contains("\"method\":\"" + jsonRpcMethod + "\"");
  }
}
