package dev.holdfast.upstream.channel;

import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Gives each message of a channel to one stream. A pipe does not tell, as HTTP does, what a message
 * belongs to; so in this order:
 *
 * <ol>
 *   <li>A response goes to the request with its id.
 *   <li>Progress goes to the request with its token; when that is open no more, as with a task that
 *       runs on, to the standalone stream.
 *   <li>What is about the whole session, such as a changed list, goes to the standalone stream.
 *   <li>All else goes to the newest open tool call, or else to the newest open request: a server
 *       that logs or asks while it works mostly does so for the work. The client reads that stream
 *       for certain, as it waits for the response, and gets a log line before it.
 *   <li>When no request is open, to the standalone stream.
 * </ol>
 *
 * <p>Messages are given by one thread; all else is thread-safe.
 */
public final class ChannelRouter {

  private static final Logger LOG = System.getLogger(ChannelRouter.class.getName());

  /** What belongs to no request, or only to the one that its token names. */
  private static final Set<String> SESSION_WIDE =
      Set.of(
          Methods.NOTIFICATIONS_PROGRESS,
          "notifications/elicitation/complete",
          "notifications/prompts/list_changed",
          "notifications/resources/list_changed",
          "notifications/resources/updated",
          "notifications/tasks/status",
          "notifications/tools/list_changed");

  private final String name;
  private final UnsolicitedStream unasked;
  private final ReentrantLock lock = new ReentrantLock();

  // All guarded by the lock.
  private final Map<RequestId, Exchange> byId = new HashMap<>();
  private final Map<RequestId, Exchange> byToken = new HashMap<>();

  /** In the order in which they were opened. */
  private final List<Exchange> exchanges = new ArrayList<>();

  private boolean over;

  /**
   * Nothing is open yet.
   *
   * @param name what log lines are marked with
   */
  public ChannelRouter(String name) {
    this.name = name;
    this.unasked = new UnsolicitedStream(name);
  }

  /**
   * Opens requests. To be done before they are sent.
   *
   * @return empty if an id is in use
   * @throws UpstreamException.SessionGone if the channel has ended
   */
  Optional<Exchange> open(List<Message.Request> requests) {
    lock.lock();
    try {
      if (over) {
        throw new UpstreamException.SessionGone();
      }
      Set<RequestId> ids = new HashSet<>();
      for (Message.Request request : requests) {
        if (!ids.add(request.id()) || byId.containsKey(request.id())) {
          return Optional.empty();
        }
      }
      Exchange exchange = new Exchange(requests);
      ids.forEach(id -> byId.put(id, exchange));
      exchange.tokens().forEach(token -> byToken.put(token, exchange));
      exchanges.add(exchange);
      return Optional.of(exchange);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Nobody reads an exchange any more.
   *
   * @return its requests that had no response
   */
  List<RequestId> close(Exchange exchange) {
    lock.lock();
    try {
      List<RequestId> unanswered = List.copyOf(exchange.open());
      unanswered.forEach(byId::remove);
      exchange.open().clear();
      forget(exchange);
      return unanswered;
    } finally {
      lock.unlock();
      List<UpstreamMessage> _ = exchange.queue().close();
    }
  }

  /** The client does not want the response any more; one that comes all the same is dropped. */
  void cancel(RequestId request) {
    lock.lock();
    try {
      Exchange exchange = strikeOut(request);
      if (exchange != null && exchange.open().isEmpty()) {
        exchange.queue().end();
      }
    } finally {
      lock.unlock();
    }
  }

  /** The standalone stream. */
  UnsolicitedStream unasked() {
    return unasked;
  }

  /** Takes a message of the server. Waits for room in its stream. */
  public void route(Message message) {
    switch (message) {
      case Message.Response response -> answer(response);
      case Message.Request _ -> report(message, null, false);
      case Message.Notification notification ->
          report(
              message, notification.progressToken(), SESSION_WIDE.contains(notification.method()));
    }
  }

  private void answer(Message.Response response) {
    Exchange exchange;
    boolean last;
    lock.lock();
    try {
      exchange = exchangeFor(response.id());
      last = exchange != null && exchange.open().isEmpty();
    } finally {
      lock.unlock();
    }
    if (exchange == null) {
      // Among them those that crossed with a cancellation.
      LOG.log(Level.DEBUG, "upstream={0} answered what nobody waits for", name);
      return;
    }
    boolean _ = exchange.queue().put(response.bytes());
    if (last) {
      exchange.queue().end();
    }
  }

  /** An error without an id can only be about the open request, when there is but one. */
  private @Nullable Exchange exchangeFor(@Nullable RequestId id) {
    if (id != null) {
      return strikeOut(id);
    }
    return byId.size() == 1 ? strikeOut(byId.keySet().iterator().next()) : null;
  }

  /** Takes a request from those that are open, and its exchange when it was the last of it. */
  private @Nullable Exchange strikeOut(RequestId id) {
    Exchange exchange = byId.remove(id);
    if (exchange != null) {
      exchange.open().remove(id);
      if (exchange.open().isEmpty()) {
        forget(exchange);
      }
    }
    return exchange;
  }

  private void forget(Exchange exchange) {
    exchanges.remove(exchange);
    exchange.tokens().forEach(token -> byToken.remove(token, exchange));
  }

  private void report(Message message, @Nullable String token, boolean sessionWide) {
    byte[] bytes = message.bytes();
    boolean taken = false;
    while (!taken) {
      // Each round finds another stream than the one that has just ended under our hands.
      taken = target(token, sessionWide).test(bytes);
    }
  }

  /** Where a message goes: what adds it, and says whether it could. */
  private Predicate<byte[]> target(@Nullable String token, boolean sessionWide) {
    lock.lock();
    try {
      if (over) {
        return dropped -> true;
      }
      Exchange exchange = exchangeOf(token, sessionWide);
      if (exchange != null) {
        return exchange::report;
      }
      return unasked::give;
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Exchange exchangeOf(@Nullable String token, boolean sessionWide) {
    Exchange reported = token == null ? null : byToken.get(RequestId.ofJson(token));
    if (reported != null || sessionWide || exchanges.isEmpty()) {
      return reported;
    }
    return exchanges.reversed().stream()
        .filter(Exchange::isCall)
        .findFirst()
        .orElseGet(exchanges::getLast);
  }

  /**
   * The channel has ended, or is about to: fails whatever is open. Idempotent.
   *
   * @param failure what happened to the open requests
   */
  public void end(UpstreamException failure) {
    List<Exchange> open;
    lock.lock();
    try {
      over = true;
      open = List.copyOf(exchanges);
      open.forEach(exchange -> exchange.open().clear());
      exchanges.clear();
      byId.clear();
      byToken.clear();
    } finally {
      lock.unlock();
    }
    open.forEach(exchange -> exchange.queue().fail(failure));
    unasked.end();
  }

  /** Whether all that is said from now on is dropped. */
  public boolean isOver() {
    lock.lock();
    try {
      return over;
    } finally {
      lock.unlock();
    }
  }
}
