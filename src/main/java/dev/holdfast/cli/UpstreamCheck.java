package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;

/** Checks that an upstream opens a session, and closes that session again. */
final class UpstreamCheck {

  private UpstreamCheck() {}

  static CheckResult run(String name, Upstream upstream) {
    String check = "upstream " + name;
    String key =
        name.equals(Session.DEFAULT_UPSTREAM) ? "holdfast.upstream" : "holdfast.upstreams." + name;
    try {
      Handshake handshake = upstream.initialize(request());
      UpstreamLink link = handshake.link();
      if (link == null) {
        return CheckResult.wrong(
            check, "the server refuses initialize", "check " + key + " and the log of the server");
      }
      upstream.attach(link).end();
      return CheckResult.fine(check, "opens sessions with MCP " + link.protocolVersion());
    } catch (UpstreamException failure) {
      return CheckResult.wrong(
          check, FailureMessage.of(failure), "check " + key + " and whether the server runs");
    }
  }

  private static Message.Request request() {
    String json =
        """
        {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"%s",\
        "capabilities":{},"clientInfo":{"name":"holdfast-doctor","version":"%s"}}}\
        """
            .formatted(ProtocolVersion.V2025_11_25.wire(), CommandLineSyntax.version());
    return new Message.Request(
        RequestId.of(1), Methods.INITIALIZE, null, null, json.getBytes(UTF_8));
  }
}
