package dev.holdfast.upstream.channel;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The requests of one body, and the stream of the server's messages about them. */
final class Exchange {

  /** Statuses of a proxy that has waited for too long, or lost its connection. */
  private static final Set<Integer> OF_PROXIES = Set.of(408, 502, 503, 504);

  private final MessageQueue queue;
  private final MessageQueue.Writer writer;
  private final boolean toolCall;
  private final boolean subscription;
  private final Set<RequestId> progressTokens;

  /** Guarded by the lock of the {@link ChannelRouter}. */
  private final Set<RequestId> unanswered = new LinkedHashSet<>();

  /** Done when the server has the requests, or has sent a message about them. */
  private final CompletableFuture<Boolean> begun = new CompletableFuture<>();

  /** Set by the thread that reads the channel, before it adds the message. */
  private volatile boolean streaming;

  Exchange(List<Message.Request> requests, ByteBudget budget) {
    queue = new MessageQueue(budget);
    writer = queue.newWriter(_ -> {});
    requests.forEach(request -> unanswered.add(request.id()));
    toolCall = has(requests, Methods.TOOLS_CALL);
    subscription = has(requests, Methods.SUBSCRIPTIONS_LISTEN);
    progressTokens =
        requests.stream()
            .map(Message.Request::progressToken)
            .filter(Objects::nonNull)
            .map(RequestId::new)
            .collect(Collectors.toUnmodifiableSet());
  }

  private static boolean has(List<Message.Request> requests, String method) {
    return requests.stream().anyMatch(request -> request.method().equals(method));
  }

  /** Fails with the reason why the requests have failed before the server sent a message. */
  CompletableFuture<Boolean> begun() {
    return begun;
  }

  /**
   * Takes the outcome of sending the requests. A lost answer says nothing when the server has sent
   * a message about them: it has them. So does the answer of a proxy that did not wait for it.
   */
  void sent(@Nullable UpstreamException failure) {
    if (failure == null) {
      begun.complete(true);
    } else if (!streaming || isRefusal(failure)) {
      fail(failure);
    }
  }

  private static boolean isRefusal(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.Refused refused -> !OF_PROXIES.contains(refused.status());
      case UpstreamException.SessionGone _ -> true;
      default -> false;
    };
  }

  /** Fails the stream unless it has ended. */
  void fail(UpstreamException failure) {
    queue.fail(failure);
    begun.completeExceptionally(failure);
  }

  MessageQueue queue() {
    return queue;
  }

  boolean isToolCall() {
    return toolCall;
  }

  /**
   * Returns true if a request opens a stream of notifications (2026-07-28), which may be silent.
   */
  boolean isSubscription() {
    return subscription;
  }

  /** Returns the progress tokens of the requests. They compare as ids do. */
  Set<RequestId> progressTokens() {
    return progressTokens;
  }

  /** Returns the requests without a response. Only for the router, under its lock. */
  Set<RequestId> unanswered() {
    return unanswered;
  }

  /** Adds a response, and ends the stream after the last one. Waits for room. */
  void respond(UpstreamMessage response, boolean last) {
    boolean _ = writer.write(response);
    if (last) {
      end();
    }
    begun.complete(true);
  }

  /** Fails a request whose response was dropped, and not the other ones of a batch. */
  void fail(RequestId request, UpstreamException.TooLarge failure, boolean last) {
    if (last) {
      queue.fail(failure);
    } else {
      respond(UpstreamMessage.tooLarge(request, failure, null), false);
    }
  }

  /** Adds a message other than a response. Waits for room. False if the stream has ended. */
  boolean report(byte[] message) {
    streaming = true;
    boolean written = writer.write(message);
    begun.complete(true);
    return written;
  }

  void end() {
    writer.abandon();
    begun.complete(true);
  }

  /** Returns whether a message other than a response has come. True before the reader sees it. */
  boolean isStreaming() {
    return streaming;
  }
}
