package dev.holdfast.session;

import dev.holdfast.protocol.ProtocolVersion;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One client's session with one upstream. What is recorded never changes, so a copy never grows
 * stale; whether the session still lives, only its store knows.
 *
 * @param id its name towards the client
 * @param upstream the configured name of the upstream
 * @param upstreamSession the upstream's own name of its side of the session; null when it gave none
 * @param version the protocol version that client and upstream agreed on
 * @param client the client's name and version as it gave them; for people to read
 * @param created when it began, to the millisecond
 */
public record Session(
    SessionId id,
    String upstream,
    @Nullable String upstreamSession,
    ProtocolVersion version,
    String client,
    Instant created) {

  /** Keeps the upstream's session id out of logs: it is a credential. */
  @Override
  public String toString() {
    return "Session[id=" + id + ", upstream=" + upstream + ", version=" + version.wire() + "]";
  }
}
