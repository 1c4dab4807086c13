package dev.holdfast.session;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.ProtocolVersion;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One client's session with one upstream. The record of an {@link #isInitialized initialized}
 * session never changes, so copies stay valid. Only the store knows whether the session still
 * exists.
 *
 * @param id the session's id towards the client
 * @param upstream the configured name of the upstream
 * @param upstreamSession the upstream's own session id; null when it has none
 * @param version the protocol version that client and upstream agreed on
 * @param created when the session began, to the millisecond
 * @param transport the client's transport
 * @param headers headers of the client's {@code initialize} for the upstream, for requests that no
 *     message of the client causes
 * @param owner the client that opened the session; nobody else may use it
 */
public record Session(
    SessionId id,
    String upstream,
    @Nullable String upstreamSession,
    ProtocolVersion version,
    Instant created,
    Transport transport,
    ForwardedHeaders headers,
    Owner owner) {

  /**
   * The client that opened a session.
   *
   * @param principal whom the session belongs to
   * @param opener the client for limits: the principal or, without one, the network of the client's
   *     address; empty when it is unknown
   * @param client name and version as the client gave them; informational
   * @param userAgent the {@code User-Agent} of its request; empty when unknown
   */
  public record Owner(Principal principal, String opener, String client, String userAgent) {}

  /**
   * Maximum time between the opening of a session and its first use. Opening costs a client
   * nothing, so a session that was never used must not take the place of others for long.
   */
  public static final Duration OPENING_TIMEOUT = Duration.ofMinutes(1);

  /** The same while few places for sessions are left: {@link SessionLimits#isCrowded}. */
  public static final Duration CROWDED_OPENING_TIMEOUT = Duration.ofSeconds(10);

  /** A session over HTTP with SSE, which begins before the client initializes it. */
  public static Session opening(
      SessionId id,
      String upstream,
      Instant created,
      String opener,
      Principal principal,
      String userAgent) {
    return new Session(
        id,
        upstream,
        null,
        ProtocolVersion.V2024_11_05,
        created,
        Transport.SSE_OPENING,
        ForwardedHeaders.NONE,
        new Owner(principal, opener, "", userAgent));
  }

  /**
   * This session after its upstream was opened.
   *
   * @param opened when the upstream was opened, to the millisecond
   */
  public Session initialized(
      @Nullable String openedSession,
      ProtocolVersion chosen,
      String clientInfo,
      Instant opened,
      ForwardedHeaders sent) {
    return new Session(
        id,
        upstream,
        openedSession,
        chosen,
        opened,
        Transport.SSE,
        sent,
        new Owner(principal(), opener(), clientInfo, userAgent()));
  }

  /** Whom the session belongs to; nobody else may use it. */
  public Principal principal() {
    return owner.principal;
  }

  /** The client that opened the session, for limits: see {@link Owner}. */
  public String opener() {
    return owner.opener;
  }

  /** The client's name and version as the client gave them; informational. */
  public String client() {
    return owner.client;
  }

  /** The {@code User-Agent} of the client that opened the session; empty when unknown. */
  public String userAgent() {
    return owner.userAgent;
  }

  /** The network of the opener's address; empty when the session belongs to a principal. */
  public String address() {
    return principal().equals(Principal.ANONYMOUS) ? opener() : "";
  }

  /** Returns true if the upstream was opened. */
  public boolean isInitialized() {
    return transport != Transport.SSE_OPENING;
  }

  /**
   * Time after which a new session expires if no client uses it.
   *
   * @param idleTimeout the configured idle timeout, which holds from the first use
   * @param crowded whether few places for sessions are left
   */
  public static Duration openingTimeout(Duration idleTimeout, boolean crowded) {
    Duration most = crowded ? CROWDED_OPENING_TIMEOUT : OPENING_TIMEOUT;
    return idleTimeout.compareTo(most) < 0 ? idleTimeout : most;
  }

  /** Returns true if one shared stream carries everything that the client receives. */
  public boolean hasOneStream() {
    return transport != Transport.STREAMABLE;
  }

  /** Omits the upstream's session id, which is a credential. */
  @Override
  public String toString() {
    return "Session[id=" + id + ", upstream=" + upstream + ", version=" + version.wire() + "]";
  }
}
