package dev.holdfast.upstream;

import dev.holdfast.protocol.ForwardedHeaders;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What any replica needs to use an open session.
 *
 * @param session the server's id of the session; null when it gave none
 * @param protocolVersion the version that the server chose, verbatim
 * @param gatewaySession the gateway's id of the session; null before the gateway has recorded it
 * @param headers headers of the client for the requests over this link
 */
public record UpstreamLink(
    @Nullable String session,
    String protocolVersion,
    @Nullable String gatewaySession,
    ForwardedHeaders headers) {

  /** The link to a session that the gateway has not recorded yet. */
  public UpstreamLink(@Nullable String session, String protocolVersion) {
    this(session, protocolVersion, null, ForwardedHeaders.NONE);
  }

  /** The same link with other headers. */
  public UpstreamLink with(ForwardedHeaders others) {
    return new UpstreamLink(session, protocolVersion, gatewaySession, others);
  }

  /** Whether both lead to the same session of the server, whatever the gateway calls it. */
  public boolean isSameAtServer(@Nullable UpstreamLink other) {
    return other != null
        && Objects.equals(session, other.session)
        && protocolVersion.equals(other.protocolVersion);
  }

  /** Keeps the session ids out of logs: they are credentials. */
  @Override
  public String toString() {
    return "UpstreamLink[protocolVersion=" + protocolVersion + "]";
  }
}
