package dev.holdfast.era.north;

import dev.holdfast.log.Position;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.MetaKeys;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.protocol.SubscribedChanges;
import dev.holdfast.relay.tail.Translation;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The notifications for one {@code subscriptions/listen}: those of the session that the client has
 * asked for, with the id of its request (MCP 2026-07-28, Subscriptions).
 *
 * @param id raw id of the request
 * @param lists names of the lists whose changes the client hears of, such as {@code tools}
 * @param resources URIs of the resources whose updates the client hears of
 * @param tasks tasks whose changes the client hears of
 * @param onClosed ends what the server does for this client
 */
record Subscription(
    StatelessCall call,
    String id,
    Set<String> lists,
    Set<String> resources,
    TaskChanges tasks,
    Runnable onClosed)
    implements Translation {

  private static final byte[] NOTHING = {};
  private static final String UPDATED = "notifications/resources/updated";

  /** Lists, by the member of a subscription that asks for their changes. */
  static final Map<String, String> LISTS = listsByMember();

  private static Map<String, String> listsByMember() {
    Map<String, String> lists = new LinkedHashMap<>();
    for (String list : List.of("tools", "prompts", "resources")) {
      lists.put(list + "ListChanged", list);
    }
    return lists;
  }

  private static String changed(String list) {
    return "notifications/" + list + "/list_changed";
  }

  @Override
  public List<byte[]> begin() {
    byte[] acknowledgement =
        JsonRpcMessages.of(Methods.NOTIFICATIONS_ACKNOWLEDGED)
            .set(honoured(), "params", "notifications")
            .toBytes();
    return List.of(tagged(acknowledgement));
  }

  /** Changes that the client hears of, as raw JSON. */
  private String honoured() {
    JsonEdit honoured = new JsonEdit();
    LISTS.forEach((member, list) -> {
      if (lists.contains(list)) {
        honoured.set("true", member);
      }
    });
    if (!resources.isEmpty()) {
      String uris =
          resources.stream().map(JsonEdit::quote).collect(Collectors.joining(",", "[", "]"));
      honoured.set(uris, "resourceSubscriptions");
    }
    tasks.addTo(honoured);
    return honoured.toJson();
  }

  private byte[] tagged(byte[] notification) {
    return new JsonEdit().set(id, "params", "_meta", MetaKeys.SUBSCRIPTION_ID).apply(notification);
  }

  /** After lost events, everything may have changed. */
  @Override
  public List<byte[]> afterGap() {
    return new SubscribedChanges(honoured()).all().stream().map(this::tagged).toList();
  }

  @Override
  public byte[] translate(Position position, byte[] message) {
    return switch (Envelopes.read(message)) {
      case Body.Single(Message.Notification notification) when isWanted(notification) ->
          tagged(message);
      case Body.Single(Message.Request request) when request.method().equals(Methods.PING) -> {
        call.sendLater(JsonRpcMessages.result(request.id(), "{}"));
        yield NOTHING;
      }
      case Body.Single(Message.Request request) -> {
        call.refuse(request.id(), "No client can be asked outside a call");
        yield NOTHING;
      }
      default -> NOTHING;
    };
  }

  @Override
  public List<byte[]> atHead() {
    return tasks.news().stream().map(this::tagged).toList();
  }

  @Override
  public @Nullable Duration untilAtHead() {
    return tasks.untilNews();
  }

  private boolean isWanted(Message.Notification notification) {
    String method = notification.method();
    return method.equals(UPDATED)
        ? resources.contains(
            String.valueOf(JsonEdit.text(JsonEdit.raw(notification.bytes(), "params", "uri"))))
        : lists.stream().anyMatch(list -> method.equals(changed(list)));
  }

  @Override
  public boolean canPause() {
    return true;
  }

  /** The result with which the gateway ends the subscription. */
  @Override
  public byte[] pause(Position cursor) {
    return new JsonEdit()
        .set("\"complete\"", "result", "resultType")
        .set(id, "result", "_meta", MetaKeys.SUBSCRIPTION_ID)
        .apply(JsonRpcMessages.result(new RequestId(id), "{}"));
  }

  @Override
  public void closed(boolean left) {
    onClosed.run();
  }
}
