package dev.holdfast.session;

import dev.holdfast.protocol.ProtocolVersion;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One client's session with one upstream. What is recorded of a session that {@link #isInitialized
 * is initialized} never changes, so a copy never grows stale; whether the session still lives, only
 * its store knows.
 *
 * @param id its name towards the client
 * @param upstream the configured name of the upstream
 * @param upstreamSession the upstream's own name of its side of the session; null when it gave none
 * @param version the protocol version that client and upstream agreed on
 * @param client the client's name and version as it gave them; for people to read
 * @param created when it began, to the millisecond
 * @param transport how the client speaks
 */
public record Session(
    SessionId id,
    String upstream,
    @Nullable String upstreamSession,
    ProtocolVersion version,
    String client,
    Instant created,
    Transport transport) {

  /**
   * Name of the upstream at {@code /mcp}. Clients reach every other upstream at {@code
   * /servers/<name>/mcp}.
   */
  public static final String DEFAULT_UPSTREAM = "default";

  /** A session over Streamable HTTP, which begins when it is initialized. */
  public Session(
      SessionId id,
      String upstream,
      @Nullable String upstreamSession,
      ProtocolVersion version,
      String client,
      Instant created) {
    this(id, upstream, upstreamSession, version, client, created, Transport.STREAMABLE);
  }

  /** A session over HTTP with SSE, which begins before it is initialized. */
  public static Session opening(SessionId id, String upstream, Instant created) {
    return new Session(
        id, upstream, null, ProtocolVersion.V2024_11_05, "", created, Transport.SSE_OPENING);
  }

  /** This session, once its upstream's side was opened. */
  public Session initialized(
      @Nullable String theirSession, ProtocolVersion chosen, String theClient) {
    return new Session(id, upstream, theirSession, chosen, theClient, created, Transport.SSE);
  }

  /** Whether the session has its upstream's side. */
  public boolean isInitialized() {
    return transport != Transport.SSE_OPENING;
  }

  /** Whether one stream carries everything that the client gets. */
  public boolean hasOneStream() {
    return transport != Transport.STREAMABLE;
  }

  /** Keeps the upstream's session id out of logs: it is a credential. */
  @Override
  public String toString() {
    return "Session[id=" + id + ", upstream=" + upstream + ", version=" + version.wire() + "]";
  }
}
