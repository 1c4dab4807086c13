package dev.holdfast.upstream;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.ProtocolVersion;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Data that any replica needs to use an open session.
 *
 * @param session the server's id of the session; null when it gave none
 * @param protocolVersion the version that the server chose, verbatim
 * @param gatewaySession the gateway's id of the session; null before the gateway has recorded it
 * @param sender who sends the requests over this link
 * @param opened when the session was opened, to the millisecond; null when that is unknown
 * @param member name of the server among those that share the gateway's session; empty if the
 *     session has one server
 */
public record UpstreamLink(
    @Nullable String session,
    String protocolVersion,
    @Nullable String gatewaySession,
    Caller sender,
    @Nullable Instant opened,
    String member) {

  /** A link to the server of a session that has one. */
  public UpstreamLink(
      @Nullable String session,
      String protocolVersion,
      @Nullable String gatewaySession,
      Caller sender,
      @Nullable Instant opened) {
    this(session, protocolVersion, gatewaySession, sender, opened, "");
  }

  /** The link to a session that the gateway has not recorded yet. */
  public UpstreamLink(@Nullable String session, String protocolVersion) {
    this(session, protocolVersion, null, Caller.UNKNOWN, null);
  }

  /** The same link for another sender. */
  public UpstreamLink with(Caller other) {
    return new UpstreamLink(session, protocolVersion, gatewaySession, other, opened, member);
  }

  /** The same link, with what the server calls the session and the version. */
  public UpstreamLink toServer(@Nullable String id, String version) {
    return new UpstreamLink(id, version, gatewaySession, sender, opened, member);
  }

  /** The same link to a session that was opened at that time. */
  public UpstreamLink openedAt(Instant time) {
    return new UpstreamLink(session, protocolVersion, gatewaySession, sender, time, member);
  }

  /** The same link in a session that is shared, to the member of that name. */
  public UpstreamLink ofMember(String name) {
    return new UpstreamLink(session, protocolVersion, gatewaySession, sender, opened, name);
  }

  /**
   * The same link to a server that keeps no session (2026-07-28).
   *
   * @param headersKnown whether the client knows the headers that such a server wants
   */
  public UpstreamLink stateless(boolean headersKnown) {
    return toServer(headersKnown ? null : "", ProtocolVersion.V2026_07_28.wire());
  }

  /** Returns true if the server keeps no session: each request names its revision (2026-07-28). */
  public boolean isStateless() {
    return (session == null || session.isEmpty())
        && protocolVersion.equals(ProtocolVersion.V2026_07_28.wire());
  }

  /** Returns true if the client of a {@link #isStateless} link sends all headers itself. */
  public boolean hasHeadersOfClient() {
    return session == null;
  }

  /** Headers of the client for the requests over this link. */
  public ForwardedHeaders headers() {
    return sender.headers();
  }

  /** Returns true if both lead to the same session of the server, whatever the gateway calls it. */
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
