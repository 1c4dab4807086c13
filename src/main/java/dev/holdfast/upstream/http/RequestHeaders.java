package dev.holdfast.upstream.http;

import dev.holdfast.protocol.ForwardedHeaders;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Headers of the requests to a server.
 *
 * @param fixed headers of every request, such as the server's own credentials
 * @param forwarded names of the headers of clients that the server gets. {@code traces} replace
 *     those that tell of a trace
 * @param traces returns the headers that tell the server of which trace a request is part, on the
 *     thread that sends it; null for none
 */
public record RequestHeaders(
    Map<String, String> fixed,
    Set<String> forwarded,
    @Nullable Supplier<Map<String, String>> traces) {

  private static final Pattern HEADER_NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

  private static final Set<String> RESERVED_HEADERS =
      Set.of(
          "accept",
          "connection",
          "content-length",
          "content-type",
          "last-event-id",
          "mcp-protocol-version",
          "mcp-session-id",
          "transfer-encoding");

  /** Headers of one connection, of the gateway's own negotiation, or with credentials. */
  private static final Pattern NEVER_FORWARDED =
      Pattern.compile(
          "accept|accept-encoding|authorization|connection|content-.*|cookie2?|expect|host"
              + "|keep-alive|last-event-id|mcp-.*|proxy-.*|te|trailer|transfer-encoding|upgrade");

  /**
   * Returns the headers as they are sent and forwarded.
   *
   * @throws IllegalArgumentException if a header is invalid; the message never quotes its value
   */
  RequestHeaders checked() {
    fixed.forEach(RequestHeaders::requireHeader);
    Set<String> names = forwardedNames();
    if (traces != null) {
      names.removeAll(ForwardedHeaders.TRACE_CONTEXT);
    }
    return new RequestHeaders(Map.copyOf(fixed), Set.copyOf(names), traces);
  }

  private static void requireHeader(String name, String value) {
    String key = "headers." + name;
    require(
        HEADER_NAME.matcher(name).matches(),
        key + " is not the name of a header: use letters, digits and dashes, as in x-api-key");
    require(
        !RESERVED_HEADERS.contains(name.toLowerCase(Locale.ROOT)),
        key + " cannot be set, because Holdfast sets this header itself: remove it");
    require(
        HeaderValues.isSendable(value), key + " has a value with control characters: remove them");
  }

  static void require(boolean rule, String message) {
    if (!rule) {
      throw new IllegalArgumentException(message);
    }
  }

  private Set<String> forwardedNames() {
    Set<String> own = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    own.addAll(fixed.keySet());
    Set<String> names = new TreeSet<>();
    for (String name : forwarded) {
      String lower = name.toLowerCase(Locale.ROOT);
      String key = "forward-headers must be names of headers, such as x-tenant, ";
      require(HEADER_NAME.matcher(name).matches(), key + "not " + name);
      require(
          !NEVER_FORWARDED.matcher(lower).matches(),
          key + "but " + name + " is never forwarded: remove it");
      require(
          !own.contains(name),
          key + "but " + name + " has a value in headers." + lower + ": remove one of them");
      names.add(lower);
    }
    return names;
  }

  /** Keeps the values, which may be credentials, out of logs. */
  @Override
  public String toString() {
    return "RequestHeaders" + new TreeSet<>(fixed.keySet());
  }
}
