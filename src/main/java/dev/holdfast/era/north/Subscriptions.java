package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Methods;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.tail.Tail;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Subscriptions of clients without a session at servers with sessions. Subscriptions of one session
 * share its standalone stream, and the server's subscriptions of resources. Thread-safe.
 */
final class Subscriptions {

  /** The most resources that one subscription names. */
  private static final int MAX_RESOURCES = 100;

  /** The most characters of all its URIs, which are kept while the client waits. */
  private static final int MAX_URIS = 32 * 1024;

  /** A resource to which the session of a server is subscribed. */
  private record Resource(SessionId session, String uri) {}

  private final StatelessContext context;
  private final Tasks tasks;
  private final AutoLock lock = new AutoLock();

  /** Numbers of subscriptions. Guarded by the lock. */
  private final Map<Resource, Integer> resources = new HashMap<>();

  Subscriptions(StatelessContext context, Tasks tasks) {
    this.context = context;
    this.tasks = tasks;
  }

  /** Opens a subscription. Throws as {@link dev.holdfast.relay.Relay#share} does. */
  Reply open(Exchange exchange, StatelessRequest request, PooledSession session) {
    String id = request.message().id().json();
    StatelessCall call =
        StatelessCall.of(context, exchange, session.id(), session.isForOneCall(), id);
    Set<String> subscribed = new LinkedHashSet<>();
    Runnable onClosed = () -> close(call, subscribed);
    try {
      byte[] filter = filter(request);
      List<String> uris = uris(filter);
      TaskChanges changes = TaskChanges.of(tasks, exchange, filter);
      Tail tail = context.relay().share(exchange.upstream(), session.id(), exchange.caller());
      Set<String> lists = new LinkedHashSet<>();
      Subscription.LISTS.forEach((member, list) -> {
        boolean asked = "true".equals(JsonEdit.raw(filter, member));
        if (asked && session.server().declares(list, "listChanged")) {
          lists.add(list);
        }
      });
      if (session.server().declares("resources", "subscribe")) {
        for (String raw : uris) {
          String uri = JsonEdit.text(raw);
          if (uri != null && !subscribed.contains(uri) && subscribe(call, uri)) {
            subscribed.add(uri);
          }
        }
      }
      return new Reply.Stream(
          tail.translated(new Subscription(call, id, lists, subscribed, changes, onClosed), null));
    } catch (RuntimeException refused) {
      onClosed.run();
      throw refused;
    }
  }

  private static byte[] filter(StatelessRequest request) {
    String wanted = request.notifications();
    if (wanted == null || !wanted.startsWith("{")) {
      throw StatelessException.invalidParams(200, "notifications must be an object");
    }
    return wanted.getBytes(UTF_8);
  }

  /** Returns the raw URIs of the resources that a filter names. */
  private static List<String> uris(byte[] filter) {
    List<String> uris = JsonEdit.elements(JsonEdit.raw(filter, "resourceSubscriptions"));
    if (uris.size() > MAX_RESOURCES) {
      throw StatelessException.invalidParams(
          200, "a subscription names at most " + MAX_RESOURCES + " resources");
    }
    if (uris.stream().mapToInt(String::length).sum() > MAX_URIS) {
      throw StatelessException.invalidParams(
          200, "the URIs of a subscription have at most " + MAX_URIS + " characters");
    }
    return uris;
  }

  /** Ends what the server does for a subscription. A session for it alone ends with it. */
  private void close(StatelessCall call, Set<String> subscribed) {
    for (String uri : subscribed) {
      if (isLast(new Resource(call.session(), uri)) && !call.endsSession()) {
        call.later(() -> {
          boolean _ = SessionAnswer.isResult(ask(call, Methods.RESOURCES_UNSUBSCRIBE, uri));
        });
      }
    }
    call.endLater();
  }

  private boolean subscribe(StatelessCall call, String uri) {
    Resource resource = new Resource(call.session(), uri);
    try (var _ = lock.hold()) {
      if (resources.merge(resource, 1, Integer::sum) > 1) {
        return true;
      }
    }
    boolean accepted = false;
    try {
      accepted = SessionAnswer.isResult(ask(call, Methods.RESOURCES_SUBSCRIBE, uri));
    } finally {
      if (!accepted) {
        boolean _ = isLast(resource);
      }
    }
    return accepted;
  }

  private boolean isLast(Resource resource) {
    try (var _ = lock.hold()) {
      return resources.computeIfPresent(resource, (_, number) -> number > 1 ? number - 1 : null)
          == null;
    }
  }

  private static Reply ask(StatelessCall call, String method, String uri) {
    return call.send(
        JsonRpcMessages.of(method)
            .set(JsonEdit.quote(SessionId.random().value()), "id")
            .set(JsonEdit.quote(uri), "params", "uri")
            .toBytes());
  }
}
