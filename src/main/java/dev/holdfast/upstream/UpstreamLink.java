package dev.holdfast.upstream;

import org.jspecify.annotations.Nullable;

/**
 * All that is needed to speak in an opened session again, from any replica.
 *
 * @param session the server's own name of the session; null when it gave none
 * @param protocolVersion the version that the server chose, as it wrote it
 */
public record UpstreamLink(@Nullable String session, String protocolVersion) {

  /** Keeps the server's session id out of logs: it is a credential. */
  @Override
  public String toString() {
    return "UpstreamLink[protocolVersion=" + protocolVersion + "]";
  }
}
