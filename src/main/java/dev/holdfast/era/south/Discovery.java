package dev.holdfast.era.south;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.ClientCapabilities;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Revisions of a server, as its answer to {@code server/discover} tells them. */
sealed interface Discovery {

  /**
   * The server speaks 2026-07-28.
   *
   * @param response a result, or an error about the request
   * @param channel what the upstream calls the process that has answered; null for none
   */
  record New(Message.Response response, @Nullable String channel) implements Discovery {}

  /** The server opens sessions. */
  record Old() implements Discovery {}

  /** The answer says nothing about revisions. */
  record Unknown(UpstreamException failure) implements Discovery {

    /** Returns true if {@code initialize} would fail in the same way. */
    boolean isAboutAnyRequest() {
      return switch (failure) {
        case UpstreamException.Unreachable _,
            UpstreamException.Busy _,
            UpstreamException.NoToken _ ->
            true;
        case UpstreamException.Refused refused -> UNRELATED.contains(refused.status());
        default -> false;
      };
    }
  }

  /** Statuses about the caller or the load. */
  Set<Integer> UNRELATED = Set.of(401, 402, 403, 407, 408, 429);

  /** Errors about a request, which only a server of 2026-07-28 sends. */
  Set<String> OF_NEW_SERVERS = Set.of("-32020", "-32021");

  String UNSUPPORTED_VERSION = "-32022";

  /** Asks a server, in the name of a client. */
  static Discovery ask(UpstreamSession server, ClientFacts client) {
    Discovery first = askOnce(server, client);
    // A server that names the revision in its refusal gets the request again.
    if (!(first instanceof New found) || !isUnsupported(found.response())) {
      return first;
    }
    Discovery second = askOnce(server, client);
    return second instanceof New again && isUnsupported(again.response()) ? new Old() : second;
  }

  private static boolean isUnsupported(Message.Response response) {
    return UNSUPPORTED_VERSION.equals(JsonEdit.raw(response.bytes(), "error", "code"));
  }

  /** Returns the request of a client for what the server can do. */
  static Message.Request request(ClientFacts client) {
    byte[] json =
        client
            .edit(null)
            .apply(
                "{\"jsonrpc\":\"2.0\",\"id\":\"discover\",\"method\":\"%s\",\"params\":{}}"
                    .formatted(Methods.SERVER_DISCOVER)
                    .getBytes(UTF_8));
    return (Message.Request) Envelopes.read(json).messages().getFirst();
  }

  /** Asks a new process, which runs on only if the server is found to have no sessions. */
  static Discovery start(Upstream server, ClientFacts client, Caller opener) {
    try {
      Handshake handshake = server.initialize(request(client), opener);
      UpstreamLink link = handshake.link();
      return Envelopes.read(handshake.response()) instanceof Body.Single(Message.Response response)
          ? of(response, link == null ? null : link.session())
          : new Old();
    } catch (UpstreamException.Broken | UpstreamException.TimedOut silent) {
      return new Old();
    } catch (UpstreamException failure) {
      return new Unknown(failure);
    }
  }

  private static Discovery askOnce(UpstreamSession server, ClientFacts client) {
    try (MessageSource answer = server.request(new Body.Single(request(client))).source()) {
      Message.Response response = answer.response();
      return response == null
          ? new Unknown(new UpstreamException.Broken("no response to server/discover", null))
          : of(response, null);
    } catch (UpstreamException.Refused refused) {
      boolean isOld =
          refused.status() <= 499
              && !refused.isTemporary()
              && !UNRELATED.contains(refused.status());
      return isOld ? new Old() : new Unknown(refused);
    } catch (UpstreamException failure) {
      return new Unknown(failure);
    }
  }

  private static Discovery of(Message.Response response, @Nullable String channel) {
    boolean isNew =
        response.error()
            ? isUnsupported(response)
                ? names(response, "error", "data", "supported")
                : OF_NEW_SERVERS.contains(
                    String.valueOf(JsonEdit.raw(response.bytes(), "error", "code")))
            : names(response, "result", "supportedVersions");
    return isNew ? new New(response, channel) : new Old();
  }

  private static boolean names(Message.Response response, String... path) {
    List<String> versions = JsonEdit.elements(JsonEdit.raw(response.bytes(), path));
    return versions.contains(JsonEdit.quote(ProtocolVersion.V2026_07_28.wire()));
  }

  /** Returns the response to {@code initialize} that a result stands for. */
  static byte[] initializeResponse(
      Message.Response discovered, RequestId id, String version, boolean withVersions) {
    byte[] from = discovered.bytes();
    String info = Results.serverInfo(from);
    JsonEdit edit =
        new JsonEdit()
            .set(id.json(), "id")
            .set(JsonEdit.quote(version), "result", "protocolVersion")
            .set(info, "result", "serverInfo");
    if (!withVersions) {
      edit.remove("result", "supportedVersions")
          .remove("result", "capabilities", "tasks")
          .remove("result", "capabilities", "extensions", ClientCapabilities.TASKS);
    }
    return Results.strip(from, edit).apply(from);
  }
}
