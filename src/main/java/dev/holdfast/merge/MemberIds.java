package dev.holdfast.merge;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Ids that servers choose, for clients of several servers: {@code 5} of the server {@code a} is
 * {@code "a/5"}. Those of requests and progress tokens are translated, in both directions.
 */
final class MemberIds {

  private static final char SEPARATOR = '/';

  private MemberIds() {}

  /**
   * An id with its server.
   *
   * @param json raw JSON, as the server has written it
   */
  record Id(String member, String json) {}

  /** Returns an id for the client, raw JSON. */
  static String toClient(String member, String json) {
    return JsonEdit.quote(member + SEPARATOR + json);
  }

  /** Reads an id that {@link #toClient} has made; null for another one. */
  static @Nullable Id read(@Nullable String json) {
    String text = JsonEdit.text(json);
    int end = text == null ? -1 : text.indexOf(SEPARATOR);
    if (text == null || end < 0) {
      return null;
    }
    try {
      String id = new RequestId(text.substring(end + 1)).json();
      return new Id(text.substring(0, end), id);
    } catch (IllegalArgumentException other) {
      return null;
    }
  }

  /** Returns a message of a server as the client gets it, with another id of its event. */
  static UpstreamMessage toClient(String member, UpstreamMessage message, @Nullable String id) {
    Body body = message.body();
    if (body.messages().stream().noneMatch(MemberIds::hasId)) {
      return message.withEventId(id);
    }
    byte[] payload =
        switch (body) {
          case Body.Single(Message single) -> toClient(member, single);
          case Body.Batch batch ->
              batch.messages().stream()
                  .map(each -> new String(toClient(member, each), UTF_8))
                  .collect(Collectors.joining(",", "[", "]"))
                  .getBytes(UTF_8);
        };
    return new UpstreamMessage(payload, id);
  }

  /** Returns true if the server has chosen an id in its message, to which it wants an answer. */
  private static boolean hasId(Message message) {
    return message instanceof Message.Request || message.cancelledRequestId() != null;
  }

  private static byte[] toClient(String member, Message message) {
    if (message instanceof Message.Request request) {
      JsonEdit edit = new JsonEdit().set(toClient(member, request.id().json()), "id");
      if (request.progressToken() != null) {
        edit.set(toClient(member, request.progressToken()), "params", "_meta", "progressToken");
      }
      return edit.apply(request.bytes());
    }
    RequestId cancelled = message.cancelledRequestId();
    return cancelled == null
        ? message.bytes()
        : new JsonEdit()
            .set(toClient(member, cancelled.json()), "params", "requestId")
            .apply(message.bytes());
  }

  /** The id in a message of a client that only one server understands; null for other messages. */
  static @Nullable Id idIn(Message message) {
    return switch (message) {
      case Message.Response response when response.id() != null -> read(response.id().json());
      case Message.Notification notification
          when notification.method().equals(Methods.NOTIFICATIONS_PROGRESS) ->
          read(notification.progressToken());
      default -> null;
    };
  }

  /** Returns a message with an {@link #idIn} as its server gets it. */
  static Body toServer(Message message, Id id) {
    JsonEdit edit =
        message instanceof Message.Response
            ? new JsonEdit().set(id.json(), "id")
            : new JsonEdit().set(id.json(), "params", "progressToken");
    return Envelopes.read(edit.apply(message.bytes()));
  }
}
