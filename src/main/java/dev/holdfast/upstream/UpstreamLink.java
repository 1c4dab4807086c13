package dev.holdfast.upstream;

import org.jspecify.annotations.Nullable;

/**
 * What any replica needs to use an open session.
 *
 * @param session the server's id of the session; null when it gave none
 * @param protocolVersion the version that the server chose, verbatim
 */
public record UpstreamLink(@Nullable String session, String protocolVersion) {

  /** Keeps the server's session id out of logs: it is a credential. */
  @Override
  public String toString() {
    return "UpstreamLink[protocolVersion=" + protocolVersion + "]";
  }
}
