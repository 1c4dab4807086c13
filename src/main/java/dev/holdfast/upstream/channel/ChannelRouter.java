package dev.holdfast.upstream.channel;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.MetaKeys;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Routes each message of a channel to one stream. Unlike HTTP, a pipe does not tell which request a
 * message belongs to. The router applies the first rule that fits:
 *
 * <ol>
 *   <li>A response goes to the request with its id, and a notification to the request with the id
 *       of its subscription (2026-07-28).
 *   <li>Progress goes to the open request with its token. Without such a request, as for a
 *       background task, it goes to the standalone stream.
 *   <li>A message about the whole session, such as a changed list, goes to the standalone stream.
 *   <li>Any other message goes to the newest open tool call, or else to the newest open request:
 *       servers mostly send messages about the work in progress.
 *   <li>Without an open request, it goes to the standalone stream.
 * </ol>
 *
 * <p>One thread calls {@link #route}; all other methods are thread-safe.
 */
public final class ChannelRouter {

  private static final Logger LOG = Logger.getLogger(ChannelRouter.class);

  /** Notifications about the session, or about the request that their token names. */
  private static final Set<String> SESSION_WIDE =
      Set.of(
          Methods.NOTIFICATIONS_PROGRESS,
          "notifications/elicitation/complete",
          "notifications/prompts/list_changed",
          "notifications/resources/list_changed",
          "notifications/resources/updated",
          "notifications/tasks/status",
          "notifications/tools/list_changed");

  private final String upstream;
  private final ByteBudget budget;
  private final StandaloneStream standalone;
  private final AutoLock lock = new AutoLock();

  // All guarded by the lock.
  private final Map<RequestId, Exchange> byId = new HashMap<>();
  private final Map<RequestId, Exchange> byToken = new HashMap<>();

  /** Oldest first. */
  private final List<Exchange> exchanges = new ArrayList<>();

  /** Reason for the end of the channel; null before. */
  private @Nullable UpstreamException end;

  /** Creates a router. Its log messages name the upstream. Waiting messages take the budget. */
  public ChannelRouter(String upstream, ByteBudget budget) {
    this.upstream = upstream;
    this.budget = budget;
    this.standalone = new StandaloneStream(upstream, budget);
  }

  /** Opens requests. Must precede sending them. Empty if an id is in use. */
  Optional<Exchange> open(List<Message.Request> requests) {
    try (var _ = lock.hold()) {
      if (end != null) {
        throw new UpstreamException.SessionGone();
      }
      Set<RequestId> ids = new HashSet<>();
      for (Message.Request request : requests) {
        if (!ids.add(request.id()) || byId.containsKey(request.id())) {
          return Optional.empty();
        }
      }
      Exchange exchange = new Exchange(requests, budget);
      ids.forEach(id -> byId.put(id, exchange));
      exchange.progressTokens().forEach(token -> byToken.put(token, exchange));
      exchanges.add(exchange);
      return Optional.of(exchange);
    }
  }

  /** Closes the stream of an exchange and returns its requests without a response. Idempotent. */
  List<RequestId> close(Exchange exchange) {
    try (var _ = lock.hold()) {
      List<RequestId> unanswered = List.copyOf(exchange.unanswered());
      unanswered.forEach(byId::remove);
      exchange.unanswered().clear();
      remove(exchange);
      return unanswered;
    } finally {
      var _ = exchange.queue().close();
    }
  }

  /** Drops the response of a request that the client has cancelled. */
  void cancel(RequestId request) {
    try (var _ = lock.hold()) {
      Exchange exchange = removeRequest(request);
      if (exchange != null && exchange.unanswered().isEmpty()) {
        exchange.end();
      }
    }
  }

  StandaloneStream standalone() {
    return standalone;
  }

  /** Routes a message of the server. Waits for room in its stream. */
  public void route(Message message) {
    switch (message) {
      case Message.Response response -> respond(response);
      case Message.Request _ -> report(message, null, false);
      case Message.Notification notification when !reportToSubscription(notification) ->
          report(
              message, notification.progressToken(), SESSION_WIDE.contains(notification.method()));
      case Message.Notification _ -> {}
    }
  }

  /** Returns whether an open request is the subscription that the notification names. */
  private boolean reportToSubscription(Message.Notification notification) {
    Exchange exchange;
    try (var _ = lock.hold()) {
      if (exchanges.stream().noneMatch(Exchange::isSubscription)) {
        return false;
      }
      String tag = JsonEdit.raw(notification.bytes(), "params", "_meta", MetaKeys.SUBSCRIPTION_ID);
      exchange = tag == null || !tag.matches("\".*\"|-?\\d+") ? null : byId.get(new RequestId(tag));
    }
    return exchange != null && exchange.report(notification.bytes());
  }

  private void respond(Message.Response response) {
    respond(
        response.id(),
        (exchange, last) -> exchange.respond(new UpstreamMessage(response.bytes(), null), last));
  }

  /** {@code response} gets the exchange, and whether it has its last response now. */
  private void respond(@Nullable RequestId id, BiConsumer<Exchange, Boolean> response) {
    Exchange exchange;
    boolean last;
    try (var _ = lock.hold()) {
      exchange = exchangeOfResponse(id);
      last = exchange != null && exchange.unanswered().isEmpty();
    }
    if (exchange == null) {
      // For instance a response that crossed with a cancellation.
      LOG.debugf("Dropping a response to no open request: upstream=%s", upstream);
    } else {
      response.accept(exchange, last);
    }
  }

  /** Fails the request whose response was dropped; all open requests without an id. */
  public void fail(@Nullable RequestId id, UpstreamException.TooLarge failure) {
    for (RequestId each : id == null ? openRequests() : List.of(id)) {
      respond(each, (exchange, last) -> exchange.fail(each, failure, last));
    }
  }

  private List<RequestId> openRequests() {
    try (var _ = lock.hold()) {
      return List.copyOf(byId.keySet());
    }
  }

  /** An error without an id belongs to the open request if there is just one. */
  private @Nullable Exchange exchangeOfResponse(@Nullable RequestId id) {
    if (id != null) {
      return removeRequest(id);
    }
    return byId.size() == 1 ? removeRequest(byId.keySet().iterator().next()) : null;
  }

  /** Removes a request and, with its last request, the exchange. */
  private @Nullable Exchange removeRequest(RequestId id) {
    Exchange exchange = byId.remove(id);
    if (exchange != null) {
      exchange.unanswered().remove(id);
      if (exchange.unanswered().isEmpty()) {
        remove(exchange);
      }
    }
    return exchange;
  }

  private void remove(Exchange exchange) {
    exchanges.remove(exchange);
    exchange.progressTokens().forEach(token -> byToken.remove(token, exchange));
  }

  private void report(Message message, @Nullable String token, boolean sessionWide) {
    boolean written = false;
    while (!written) {
      // A stream may end between its choice and the write; the next round finds another one.
      written = target(token, sessionWide).test(message.bytes());
    }
  }

  private Predicate<byte[]> target(@Nullable String token, boolean sessionWide) {
    try (var _ = lock.hold()) {
      if (end != null) {
        return _ -> true;
      }
      Exchange exchange = exchangeOfReport(token, sessionWide);
      return exchange == null ? standalone::write : message -> report(message, exchange);
    }
  }

  /** A stream that does not take a message gets no further ones. */
  private boolean report(byte[] message, Exchange exchange) {
    boolean written = exchange.report(message);
    if (!written) {
      try (var _ = lock.hold()) {
        remove(exchange);
      }
    }
    return written;
  }

  private @Nullable Exchange exchangeOfReport(@Nullable String token, boolean sessionWide) {
    Exchange named = token == null ? null : byToken.get(new RequestId(token));
    if (named != null || sessionWide || exchanges.isEmpty()) {
      return named;
    }
    return exchanges.reversed().stream()
        .filter(Exchange::isToolCall)
        .findFirst()
        .orElseGet(exchanges::getLast);
  }

  /**
   * Ends all streams with their channel: open requests with a failure. Drops all further messages.
   * Idempotent.
   */
  public void end(UpstreamException failure) {
    List<Exchange> open;
    try (var _ = lock.hold()) {
      end = end == null ? failure : end;
      open = List.copyOf(exchanges);
      open.forEach(exchange -> exchange.unanswered().clear());
      exchanges.clear();
      byId.clear();
      byToken.clear();
    }
    open.forEach(exchange -> exchange.fail(failure));
    standalone.end();
  }

  /** Returns whether {@link #end} was called. */
  public boolean isOver() {
    return failure() != null;
  }

  /** Returns why the channel has ended; null before. */
  @Nullable UpstreamException failure() {
    try (var _ = lock.hold()) {
      return end;
    }
  }
}
