package dev.holdfast.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Changes of which a server tells a subscription (MCP 2026-07-28, Subscriptions).
 *
 * @param json raw {@code notifications} of an acknowledgement
 */
public record SubscribedChanges(String json) {

  /** A subscription to nothing. */
  public static final SubscribedChanges NONE = new SubscribedChanges("{}");

  private static final Map<String, String> LISTS =
      Map.of(
          "toolsListChanged", "notifications/tools/list_changed",
          "promptsListChanged", "notifications/prompts/list_changed",
          "resourcesListChanged", "notifications/resources/list_changed");

  /** Returns the changes that a server has acknowledged; null for another notification. */
  public static @Nullable SubscribedChanges of(Message.Notification notification) {
    if (!notification.method().equals(Methods.NOTIFICATIONS_ACKNOWLEDGED)) {
      return null;
    }
    String json = JsonEdit.raw(notification.bytes(), "params", "notifications");
    return json == null ? NONE : new SubscribedChanges(json);
  }

  /** Returns the URIs of the resources. */
  public Set<String> resources() {
    return JsonEdit.elements(JsonEdit.members(json).get("resourceSubscriptions")).stream()
        .map(uri -> String.valueOf(JsonEdit.text(uri)))
        .collect(Collectors.toSet());
  }

  /**
   * Returns one notification for each list and each resource: after a gap, all may have changed.
   */
  public List<byte[]> all() {
    List<byte[]> all = new ArrayList<>();
    Map<String, String> members = JsonEdit.members(json);
    LISTS.forEach((name, method) -> {
      if ("true".equals(members.get(name))) {
        all.add(JsonRpcMessages.of(method).toBytes());
      }
    });
    resources()
        .forEach(uri ->
            all.add(
                JsonRpcMessages.of("notifications/resources/updated")
                    .set(JsonEdit.quote(uri), "params", "uri")
                    .toBytes()));
    return all;
  }
}
