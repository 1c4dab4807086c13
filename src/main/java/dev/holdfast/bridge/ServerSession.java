package dev.holdfast.bridge;

import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;

/** One session with the server. When the server loses it, another takes its place. */
final class ServerSession {

  private final UpstreamSession session;
  private final UpstreamLink link;

  ServerSession(UpstreamSession session, UpstreamLink link) {
    this.session = session;
    this.link = link;
  }

  UpstreamSession session() {
    return session;
  }

  String protocolVersion() {
    return link.protocolVersion();
  }
}
