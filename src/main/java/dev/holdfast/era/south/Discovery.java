package dev.holdfast.era.south;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.util.List;
import java.util.Set;

/** What the answer to {@code server/discover} says about the revisions of a server. */
sealed interface Discovery {

  /** The server speaks 2026-07-28: its response is a result, or an error about the request. */
  record New(Message.Response response) implements Discovery {}

  /** The server opens sessions. */
  record Old() implements Discovery {}

  /** The answer says nothing about revisions. */
  record Unknown(UpstreamException failure) implements Discovery {

    /** Whether {@code initialize} would fail in the same way. */
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
    return first instanceof New(Message.Response response) && isUnsupported(response)
        ? askOnce(server, client) instanceof New(Message.Response second) && !isUnsupported(second)
            ? new New(second)
            : new Old()
        : first;
  }

  private static boolean isUnsupported(Message.Response response) {
    return UNSUPPORTED_VERSION.equals(JsonEdit.raw(response.bytes(), "error", "code"));
  }

  private static Discovery askOnce(UpstreamSession server, ClientFacts client) {
    byte[] request =
        client
            .edit(null)
            .apply(
                "{\"jsonrpc\":\"2.0\",\"id\":\"discover\",\"method\":\"%s\",\"params\":{}}"
                    .formatted(Methods.SERVER_DISCOVER)
                    .getBytes(UTF_8));
    try (MessageSource answer = server.request(Envelopes.read(request)).source()) {
      for (var some = answer.take(); !some.isEmpty(); some = answer.take()) {
        for (UpstreamMessage message : some) {
          if (message.body() instanceof Body.Single(Message.Response response)) {
            return of(response);
          }
        }
      }
      return new Unknown(new UpstreamException.Broken("no response to server/discover", null));
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

  private static Discovery of(Message.Response response) {
    boolean isNew =
        response.error()
            ? isUnsupported(response)
                ? names(response, "error", "data", "supported")
                : OF_NEW_SERVERS.contains(
                    String.valueOf(JsonEdit.raw(response.bytes(), "error", "code")))
            : names(response, "result", "supportedVersions");
    return isNew ? new New(response) : new Old();
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
          .remove("result", "capabilities", "extensions", ClientFacts.TASKS);
    }
    return Results.strip(from, edit).apply(from);
  }
}
