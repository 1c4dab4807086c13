package dev.holdfast.upstream.http;

import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.channel.Channel;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Address of a server and its limits.
 *
 * @param url MCP endpoint, {@code http} or {@code https}, without credentials
 * @param headers headers of every request, such as the server's own credentials
 * @param connectTimeout time to open a connection, including TLS
 * @param firstByteTimeout time until the server begins to answer a request. The same time applies
 *     again until a JSON answer has ended. A JSON answer to a tool call begins when the call is
 *     done. See also {@link #startTimeout()}
 * @param idleTimeout time without an event after which the stream of a running call fails; zero for
 *     never. The standalone stream may always be silent.
 * @param maxMessageBytes size of the largest accepted message
 * @param reconnection how streams are resumed
 * @param maxConnections limit on connections for calls, and again on those for long-lived streams;
 *     at most {@value #MOST_CONNECTIONS}
 * @param traceHeaders returns the headers that tell the server of which trace a request is part, on
 *     the thread that sends it; null for none
 * @param forwardHeaders names of the headers of clients that the server gets. {@code traceHeaders}
 *     replace those that tell of a trace
 * @param tls TLS of the connections; null for the authorities that the Java runtime knows
 * @param credentials the gateway's credentials, besides those in {@code headers}
 */
public record HttpUpstreamSettings(
    URI url,
    Map<String, String> headers,
    Duration connectTimeout,
    Duration firstByteTimeout,
    Duration idleTimeout,
    int maxMessageBytes,
    Reconnection reconnection,
    int maxConnections,
    @Nullable Supplier<Map<String, String>> traceHeaders,
    Set<String> forwardHeaders,
    @Nullable ClientTls tls,
    Credentials credentials) {

  /** Upper bound of {@code maxConnections}: about the number of ports for one address. */
  public static final int MOST_CONNECTIONS = 65_536;

  private static final String EXAMPLE = ", such as http://localhost:3000/mcp";

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
   * How a stream is resumed after it lost its connection.
   *
   * @param maxDelay upper bound of the delay before an attempt, including a delay that the server
   *     asks for
   * @param attempts failed attempts in a row after which the stream of a call fails. An orderly
   *     close by a server that accepts the next connection is no failure.
   * @param stallTimeout time without a byte after which a connection counts as dead and a resumable
   *     stream moves to another one; zero for never
   * @param answerTimeout time until a server that has resumed no stream so far answers an attempt
   */
  public record Reconnection(
      Duration maxDelay, int attempts, Duration stallTimeout, Duration answerTimeout) {

    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(4);

    private static final Duration MAX_DELAY = Duration.ofSeconds(30);

    /** 30 s, 5 attempts, and no connection counts as dead. */
    public static final Reconnection DEFAULT = new Reconnection(MAX_DELAY, 5, Duration.ZERO);

    /**
     * For a machine that sleeps and changes networks: as long as it takes, also when a connection
     * stalls. Servers that send comments on a silent stream send at least two in 75 s.
     */
    public static final Reconnection PATIENT =
        new Reconnection(MAX_DELAY, Integer.MAX_VALUE, Duration.ofSeconds(75));

    /** With an answer timeout of 4 s, or the stall timeout if there is one. */
    public Reconnection(Duration maxDelay, int attempts, Duration stallTimeout) {
      this(maxDelay, attempts, stallTimeout, stallTimeout.isZero() ? ANSWER_TIMEOUT : stallTimeout);
    }
  }

  /**
   * Copies the headers.
   *
   * @throws IllegalArgumentException if the address or a header is invalid; the message never
   *     quotes a header's value
   */
  public HttpUpstreamSettings {
    requireEndpoint(url);
    headers = Map.copyOf(headers);
    headers.forEach(HttpUpstreamSettings::requireHeader);
    forwardHeaders = forwarded(forwardHeaders, headers.keySet());
    if (traceHeaders != null) {
      forwardHeaders.removeAll(ForwardedHeaders.TRACE_CONTEXT);
    }
    forwardHeaders = Set.copyOf(forwardHeaders);
    require(
        credentials.equals(Credentials.NONE)
            || headers.keySet().stream().noneMatch("authorization"::equalsIgnoreCase),
        "authorization excludes headers.authorization: remove one of them");
    require(
        tls == null || "https".equalsIgnoreCase(url.getScheme()),
        "tls has no use unless url begins with https://: remove it, or change the url");
  }

  /** Time until the server opens a session or a stream, or takes what needs no response. */
  Duration startTimeout() {
    return Channel.Settings.startTimeout(firstByteTimeout);
  }

  Profile profile(boolean canReopen) {
    return Profile.of(forwardHeaders, credentials.needClientToken(), canReopen);
  }

  private static void requireEndpoint(URI url) {
    String scheme = String.valueOf(url.getScheme()).toLowerCase(Locale.ROOT);
    require(
        scheme.equals("http") || scheme.equals("https"),
        "url must begin with http:// or https://" + EXAMPLE);
    require(url.getHost() != null, "url must name a host" + EXAMPLE);
    require(
        url.getRawUserInfo() == null,
        "url must not have a user or password: put them into headers.authorization");
    require(url.getRawFragment() == null, "url must not have a part after #: remove it");
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

  private static Set<String> forwarded(Set<String> names, Set<String> configured) {
    Set<String> own = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    own.addAll(configured);
    Set<String> forwarded = new TreeSet<>();
    for (String name : names) {
      String lower = name.toLowerCase(Locale.ROOT);
      String key = "forward-headers must be names of headers, such as x-tenant, ";
      require(HEADER_NAME.matcher(name).matches(), key + "not " + name);
      require(
          !NEVER_FORWARDED.matcher(lower).matches(),
          key + "but " + name + " is never forwarded: remove it");
      require(
          !own.contains(name),
          key + "but " + name + " has a value in headers." + lower + ": remove one of them");
      forwarded.add(lower);
    }
    return forwarded;
  }

  private static void require(boolean rule, String message) {
    if (!rule) {
      throw new IllegalArgumentException(message);
    }
  }

  /** Keeps header values and the query of the URL out of logs. */
  @Override
  public String toString() {
    return "HttpUpstreamSettings[url=%s://%s%s, headers=%s]"
        .formatted(
            url.getScheme(),
            url.getRawAuthority(),
            url.getRawPath(),
            new TreeSet<>(headers.keySet()));
  }
}
