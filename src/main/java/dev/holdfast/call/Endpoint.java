package dev.holdfast.call;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The URLs of an upstream at the gateway. Those of the default upstream are {@code /mcp}, {@code
 * /sse}, {@code /messages/<session>} and {@code /calls/<handle>/stream}; those of another one begin
 * with {@code /servers/<name>}, and those of a view with {@code /views/<name>}.
 *
 * @param upstream the configured name of the upstream, or {@code views/} and that of the view
 * @param sse whether the transport is HTTP with SSE
 */
public record Endpoint(String upstream, boolean sse) {

  /** Name of the upstream at {@code /mcp}. */
  public static final String DEFAULT_UPSTREAM = "default";

  /** Last segment of the path of Streamable HTTP. */
  public static final String MCP = "mcp";

  /** Last segment of the path of the stream of HTTP with SSE. */
  public static final String SSE = "sse";

  /** Segment before the session in the path to which clients over HTTP with SSE send messages. */
  public static final String MESSAGES = "messages/";

  /** Segment before the handle in the path of a call. */
  public static final String CALLS = "calls/";

  private static final String SERVERS = "servers/";

  /** Before the name of a view, in its name as an upstream. */
  public static final String VIEWS = "views/";

  /** Template of the path of a named upstream, or nothing for the default one. */
  public static final String SERVER = "/{server: (?:(?:" + SERVERS + "|" + VIEWS + ")[^/]+/)?}";

  /** The same with an alias, for clients that append {@code /sse} to the URL of a server. */
  public static final String SERVER_OR_MCP =
      "/{server: (?:(?:" + SERVERS + "|" + VIEWS + ")[^/]+/|" + MCP + "/)?}";

  /**
   * Beginning of a path that names the default upstream. No such path is served, so that no client
   * evades a proxy's rules for the upstream.
   */
  public static final String SECOND_NAME = "/" + SERVERS + DEFAULT_UPSTREAM + "/";

  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}";
  private static final Pattern NAMES = Pattern.compile(NAME);
  private static final Pattern NAMED =
      Pattern.compile(
          "/(?:%s|(?=%s))((?:%s)?%s)/(?:%s|%s.*|(%s|%s.*))"
              .formatted(SERVERS, VIEWS, VIEWS, NAME, MCP, CALLS, SSE, MESSAGES));

  /** Returns whether a text can be the name of an upstream, and so a segment of a path. */
  public static boolean isName(String text) {
    return NAMES.matcher(text).matches();
  }

  /** Finds the endpoint of a path; that of {@code /mcp} for an unknown one. */
  public static Endpoint of(String path) {
    Matcher named = NAMED.matcher(path);
    if (named.matches()) {
      return new Endpoint(named.group(1), named.group(2) != null);
    }
    boolean sse = path.equals("/" + SSE) || path.startsWith("/" + MESSAGES);
    return new Endpoint(DEFAULT_UPSTREAM, sse);
  }

  /** Returns the upstream that the part of a path names that {@link #SERVER} matches. */
  public static String upstream(String server) {
    if (server.startsWith(VIEWS)) {
      return server.substring(0, server.length() - 1);
    }
    return server.startsWith(SERVERS)
        ? server.substring(SERVERS.length(), server.length() - 1)
        : DEFAULT_UPSTREAM;
  }

  /** The path that clients use. */
  public String path() {
    return parent() + (sse ? SSE : MCP);
  }

  /** The path to which clients over HTTP with SSE send the messages of a session. */
  public String messagesPath(SessionId session) {
    return parent() + MESSAGES + session.value();
  }

  private String parent() {
    if (upstream.equals(DEFAULT_UPSTREAM)) {
      return "/";
    }
    return "/" + (upstream.startsWith(VIEWS) ? "" : SERVERS) + upstream + "/";
  }
}
