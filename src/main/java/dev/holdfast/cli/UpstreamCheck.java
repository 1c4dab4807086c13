package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;

/** Whether a server opens a session. It is closed again. */
final class UpstreamCheck {

  private UpstreamCheck() {}

  static Finding examine(String name, Upstream upstream) {
    String check = "upstream " + name;
    String key =
        name.equals(Session.DEFAULT_UPSTREAM) ? "holdfast.upstream" : "holdfast.upstreams." + name;
    try {
      Handshake handshake = upstream.initialize(request());
      UpstreamLink link = handshake.link();
      if (link == null) {
        return Finding.wrong(
            check, "it refuses initialize", "see to what " + key + " leads to, and to its log");
      }
      upstream.attach(link).end();
      return Finding.fine(check, "it opens a session, in MCP " + link.protocolVersion());
    } catch (UpstreamException failure) {
      return Finding.wrong(check, Causes.of(failure), "see to what " + key + " leads to");
    }
  }

  private static Message.Request request() {
    String json =
        """
        {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"%s",\
        "capabilities":{},"clientInfo":{"name":"holdfast-doctor","version":"%s"}}}\
        """
            .formatted(ProtocolVersion.V2025_11_25.wire(), Syntax.version());
    if (Envelopes.read(json.getBytes(UTF_8)) instanceof Body.Single(Message.Request request)) {
      return request;
    }
    throw new IllegalStateException("initialize is a request");
  }
}
