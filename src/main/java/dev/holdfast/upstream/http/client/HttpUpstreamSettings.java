package dev.holdfast.upstream.http.client;

import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Where a server is and how patient we are with it.
 *
 * @param url its MCP endpoint, {@code http} or {@code https}, without credentials in it
 * @param headers what is sent with every request, such as the server's own credentials
 * @param connectTimeout how long a connection may take, TLS included
 * @param firstByteTimeout how long the server may take until it begins to answer, and once more
 *     until an answer that is no stream, or that to {@code initialize}, has ended. A tool call that
 *     is answered with JSON begins its answer when it is done.
 * @param idleTimeout how long a stream of a running call may be silent; zero for ever. A stream on
 *     which the server speaks unasked may always be silent.
 * @param maxMessageBytes the size of the largest message that is taken
 * @param maxRetryDelay the longest wait before a stream is resumed, whatever the server asks for
 * @param resumeAttempts how often in a row the stream of a call is tried to be resumed in vain
 *     before it is given up; a server that closes it in order and lets us come back does not count
 * @param stallTimeout after which time without a byte the connection of a stream is taken for dead,
 *     and the stream is resumed on another one, if it can be; zero for never
 * @param maxConnections the most connections for requests, and as many again for streams that stay;
 *     {@value #MOST_CONNECTIONS} at most
 */
public record HttpUpstreamSettings(
    URI url,
    Map<String, String> headers,
    Duration connectTimeout,
    Duration firstByteTimeout,
    Duration idleTimeout,
    int maxMessageBytes,
    Duration maxRetryDelay,
    int resumeAttempts,
    Duration stallTimeout,
    int maxConnections) {

  /** About as many ports as there are for connections to one address. */
  public static final int MOST_CONNECTIONS = 65_536;

  private static final Duration STALLED = Duration.ofSeconds(75);

  private static final Pattern HEADER_NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

  private static final Set<String> OWN_HEADERS =
      Set.of(
          "accept",
          "connection",
          "content-length",
          "content-type",
          "last-event-id",
          "mcp-protocol-version",
          "mcp-session-id",
          "transfer-encoding");

  /**
   * Checks and copies.
   *
   * @throws IllegalArgumentException if a value is out of its range; the message names it, but
   *     never quotes the value of a header
   */
  public HttpUpstreamSettings {
    requireEndpoint(url);
    headers = Map.copyOf(headers);
    headers.forEach(HttpUpstreamSettings::requireHeader);
    require(connectTimeout.isPositive(), "connectTimeout must be positive");
    require(firstByteTimeout.isPositive(), "firstByteTimeout must be positive");
    require(!idleTimeout.isNegative(), "idleTimeout must not be negative");
    require(maxMessageBytes > 0, "maxMessageBytes must be positive");
    require(maxRetryDelay.isPositive(), "maxRetryDelay must be positive");
    require(resumeAttempts >= 0, "resumeAttempts must not be negative");
    require(!stallTimeout.isNegative(), "stallTimeout must not be negative");
    require(
        maxConnections > 0 && maxConnections <= MOST_CONNECTIONS,
        "maxConnections must be 1 to " + MOST_CONNECTIONS);
  }

  /** Settings under which no connection is taken for dead while it stands, and none refused. */
  public HttpUpstreamSettings(
      URI url,
      Map<String, String> headers,
      Duration connectTimeout,
      Duration firstByteTimeout,
      Duration idleTimeout,
      int maxMessageBytes,
      Duration maxRetryDelay,
      int resumeAttempts) {
    this(
        url,
        headers,
        connectTimeout,
        firstByteTimeout,
        idleTimeout,
        maxMessageBytes,
        maxRetryDelay,
        resumeAttempts,
        Duration.ZERO,
        MOST_CONNECTIONS);
  }

  /** The same with another bound on the connections. */
  public HttpUpstreamSettings withMaxConnections(int most) {
    return new HttpUpstreamSettings(
        url,
        headers,
        connectTimeout,
        firstByteTimeout,
        idleTimeout,
        maxMessageBytes,
        maxRetryDelay,
        resumeAttempts,
        stallTimeout,
        most);
  }

  /**
   * The same for a machine that sleeps and changes networks: streams are resumed for as long as it
   * takes, also those whose connection died without a word. A server that sends comments on a
   * silent stream does so more often than twice in that time.
   */
  public HttpUpstreamSettings patient() {
    return new HttpUpstreamSettings(
        url,
        headers,
        connectTimeout,
        firstByteTimeout,
        Duration.ZERO,
        maxMessageBytes,
        maxRetryDelay,
        Integer.MAX_VALUE,
        STALLED,
        maxConnections);
  }

  /** Returns the defaults for a server: no headers, 5 s, 5 min, 5 min, 4 MiB, 30 s, 5 attempts. */
  public static HttpUpstreamSettings defaults(URI url) {
    return new HttpUpstreamSettings(
        url,
        Map.of(),
        Duration.ofSeconds(5),
        Duration.ofMinutes(5),
        Duration.ofMinutes(5),
        4 << 20,
        Duration.ofSeconds(30),
        5);
  }

  private static void requireEndpoint(URI url) {
    String scheme = String.valueOf(url.getScheme()).toLowerCase(Locale.ROOT);
    require(scheme.equals("http") || scheme.equals("https"), "url must be http or https");
    require(url.getHost() != null, "url must name a host");
    require(url.getRawUserInfo() == null, "url must not hold credentials; use a header");
    require(url.getRawFragment() == null, "url must not have a fragment");
  }

  private static void requireHeader(String name, String value) {
    require(HEADER_NAME.matcher(name).matches(), "not the name of a header: " + name);
    require(
        !OWN_HEADERS.contains(name.toLowerCase(Locale.ROOT)),
        "a header that cannot be configured: " + name);
    require(HeaderValues.isSendable(value), "not a value for the header " + name);
  }

  private static void require(boolean rule, String message) {
    if (!rule) {
      throw new IllegalArgumentException(message);
    }
  }

  /** Keeps the values of the headers, and the query of the URL, out of logs. */
  @Override
  public String toString() {
    return "HttpUpstreamSettings[url="
        + url.getScheme()
        + "://"
        + url.getRawAuthority()
        + url.getRawPath()
        + ", headers="
        + new TreeSet<>(headers.keySet())
        + "]";
  }
}
