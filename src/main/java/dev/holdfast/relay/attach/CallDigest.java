package dev.holdfast.relay.attach;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.CanonicalJson;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.Sha256;
import dev.holdfast.session.Session;
import java.io.ByteArrayOutputStream;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** Name of a call: equal for two calls of one client that ask a server for the same. */
final class CallDigest {

  private CallDigest() {}

  /**
   * Returns the name of a call; empty for other messages, and for a client of which nothing is
   * known.
   */
  static Optional<String> of(Session session, Exchange exchange) {
    Caller caller = exchange.caller();
    if (!(exchange.body() instanceof Body.Single(Message.Request request))
        || !request.method().equals(Methods.TOOLS_CALL)
        || (caller.name() == null && exchange.conversation() instanceof Conversation.Single)) {
      return Optional.empty();
    }
    String params = JsonEdit.raw(request.bytes(), "params");
    if (params == null) {
      return Optional.empty();
    }
    // What the server gets besides the parameters may change what it does.
    ForwardedHeaders headers = caller.headers().ofSession().without(McpHeaders.PARAMETER);
    List<String> client =
        List.of(
            session.upstream(),
            caller.name() == null ? "session " + session.id().value() : "of " + caller.name(),
            Caller.format(caller.scopes()),
            String.join("\n", headers.format().lines().sorted().toList()),
            // Servers without sessions have other results.
            Boolean.toString(session.version().hasSessions()));
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (String each : client) {
      all.writeBytes(Sha256.of(each.getBytes(UTF_8)));
    }
    all.writeBytes(CanonicalJson.digest(params.getBytes(UTF_8), "_meta"));
    return Optional.of(
        Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of(all.toByteArray())));
  }
}
