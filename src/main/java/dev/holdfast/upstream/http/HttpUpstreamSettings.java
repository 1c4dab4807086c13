package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.RequestHeaders.require;

import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.channel.Channel;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Address of a server and its limits.
 *
 * @param url MCP endpoint, {@code http} or {@code https}, without credentials
 * @param headers headers of the requests
 * @param connectTimeout time to open a connection, including TLS
 * @param reconnection how streams are resumed
 * @param maxConnections limit on connections for calls, and again on those for long-lived streams;
 *     at most {@value #MOST_CONNECTIONS}
 * @param tls TLS of the connections; null for the authorities that the Java runtime knows
 * @param credentials the gateway's credentials, besides those in {@code headers}
 * @param channel name of the upstream and limits of its sessions. Their numbers count for HTTP with
 *     SSE only. The time until the first byte applies again until a JSON answer has ended. A JSON
 *     answer to a tool call begins when the call is done
 */
public record HttpUpstreamSettings(
    URI url,
    RequestHeaders headers,
    Duration connectTimeout,
    Reconnection reconnection,
    int maxConnections,
    @Nullable ClientTls tls,
    Credentials credentials,
    Channel.Settings channel) {

  /** Upper bound of {@code maxConnections}: about the number of ports for one address. */
  public static final int MOST_CONNECTIONS = 65_536;

  private static final String EXAMPLE = ", such as http://localhost:3000/mcp";

  /**
   * Resumption of a stream that lost its connection.
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

    /**
     * Returns true for a process whose only client cannot resume. It also resumes calls without a
     * session (2026-07-28), which gateways replay.
     */
    boolean isPatient() {
      return equals(PATIENT);
    }

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
    headers = headers.checked();
    require(
        credentials.equals(Credentials.NONE)
            || headers.fixed().keySet().stream().noneMatch("authorization"::equalsIgnoreCase),
        "authorization excludes headers.authorization: remove one of them");
    require(
        tls == null || "https".equalsIgnoreCase(url.getScheme()),
        "tls has no use unless url begins with https://: remove it, or change the url");
  }

  Profile profile(boolean canReopen) {
    return Profile.of(headers.forwarded(), credentials.needClientToken(), canReopen);
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

  /** Keeps header values and the query of the URL out of logs. */
  @Override
  public String toString() {
    return "HttpUpstreamSettings[url=%s://%s%s, headers=%s]"
        .formatted(
            url.getScheme(),
            url.getRawAuthority(),
            url.getRawPath(),
            new TreeSet<>(headers.fixed().keySet()));
  }
}
