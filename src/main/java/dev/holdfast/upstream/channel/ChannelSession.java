package dev.holdfast.upstream.channel;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.protocol.Utf8;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** A session over one channel. Without a channel, all its methods fail. */
final class ChannelSession implements UpstreamSession {

  /** Time to start and to answer {@code server/discover}: other servers may never answer it. */
  private static final Duration DISCOVER_TIMEOUT = Duration.ofSeconds(30);

  private final @Nullable Channel channel;
  private final Channel.Settings settings;

  /** {@code channel} is null if it has ended or belongs to another replica. */
  ChannelSession(@Nullable Channel channel, Channel.Settings settings) {
    this.channel = channel;
    this.settings = settings;
  }

  /**
   * Opens the session: sends {@code initialize} over a new channel and waits for the response.
   *
   * @throws UpstreamException if no valid response comes
   */
  Handshake initialize(Message.Request initialize) {
    Exchange exchange = openFirst(initialize);
    try {
      long start = System.nanoTime();
      boolean discovers = initialize.method().equals(Methods.SERVER_DISCOVER);
      Duration limit =
          discovers && settings.startTimeout().compareTo(DISCOVER_TIMEOUT) > 0
              ? DISCOVER_TIMEOUT
              : settings.startTimeout();
      send(initialize.bytes(), exchange);
      return Handshake.read(
          initialize,
          () -> take(exchange, start, limit),
          settings.maxMessageBytes(),
          channel().session(),
          _ -> true);
    } finally {
      close(exchange);
    }
  }

  /** A channel may fail before its first request. The reason is clearer than a lost session. */
  private Exchange openFirst(Message.Request initialize) {
    ChannelRouter router = channel().router();
    try {
      return router.open(List.of(initialize)).orElseThrow(IllegalStateException::new);
    } catch (UpstreamException.SessionGone e) {
      throw Objects.requireNonNullElse(router.failure(), e);
    }
  }

  private List<UpstreamMessage> take(Exchange exchange, long start, Duration limit) {
    Duration left = limit.minusNanos(System.nanoTime() - start);
    try {
      if (!exchange.queue().await(left.isPositive() ? left : Duration.ofNanos(1))) {
        throw new UpstreamException.TimedOut("it did not answer initialize");
      }
      return exchange.queue().take(Duration.ZERO);
    } catch (InterruptedException e) {
      throw UpstreamException.Broken.interrupted(e);
    }
  }

  private Channel channel() {
    if (channel == null) {
      throw new UpstreamException.SessionGone();
    }
    return channel;
  }

  /**
   * A tool call or a batch gets a stream as soon as the server has it. Any other request waits for
   * its first message. If that is a response, the answer is JSON.
   */
  @Override
  public Answer request(Body body) {
    List<Message.Request> requests =
        body.messages().stream()
            .filter(Message.Request.class::isInstance)
            .map(Message.Request.class::cast)
            .toList();
    if (requests.isEmpty()) {
      throw new IllegalArgumentException("There is no request in the body");
    }
    return channel()
        .router()
        .open(requests)
        .map(exchange -> request(body, exchange))
        .orElseGet(() -> refuseIds(requests));
  }

  private Answer request(Body body, Exchange exchange) {
    try {
      body.cancelledRequestIds().forEach(channel().router()::cancel);
      send(body.bytes(), exchange);
      return answer(body, exchange);
    } catch (Throwable failure) {
      close(exchange);
      throw failure;
    }
  }

  private void send(byte[] requests, Exchange exchange) {
    channel().request(Utf8.singleLine(requests), settings.startTimeout(), exchange::sent);
  }

  private Answer answer(Body body, Exchange exchange) {
    try {
      if (body instanceof Body.Batch || exchange.isToolCall()) {
        boolean _ = exchange.begun().get();
        return stream(exchange);
      }
      return awaitAnswer(exchange, settings.firstByteTimeout());
    } catch (ExecutionException e) {
      throw (UpstreamException) e.getCause();
    } catch (InterruptedException e) {
      throw UpstreamException.Broken.interrupted(e);
    }
  }

  private Answer awaitAnswer(Exchange exchange, Duration timeout) throws InterruptedException {
    if (!exchange.queue().await(timeout)) {
      cancel(exchange);
      throw new UpstreamException.TimedOut(
          "it did not begin to answer", UpstreamException.TimedOut.FIRST_BYTE);
    }
    if (exchange.isStreaming()) {
      return stream(exchange);
    }
    List<UpstreamMessage> response = exchange.queue().take(timeout);
    if (response.isEmpty()) {
      throw new UpstreamException.Broken("the request was cancelled", null);
    }
    close(exchange);
    return new Answer.Json(response.getFirst());
  }

  /** Closing the stream before its end does not cancel the requests: the caller decides that. */
  private Answer stream(Exchange exchange) {
    return new Answer.Stream(
        new MessageQueue.Source(
            exchange.queue(),
            exchange.isSubscription() ? Duration.ZERO : settings.idleTimeout(),
            () -> cancel(exchange),
            () -> close(exchange)));
  }

  private void close(Exchange exchange) {
    List<RequestId> _ = channel().router().close(exchange);
  }

  /**
   * Closes an exchange after a timeout and cancels its requests: "the sender SHOULD issue a
   * cancellation" (MCP 2025-11-25, Lifecycle, Timeouts).
   */
  private void cancel(Exchange exchange) {
    for (RequestId id : channel().router().close(exchange)) {
      String notification =
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":"
              + id.json()
              + ",\"reason\":\"timed out\"}}";
      channel().sendLater(notification.getBytes(UTF_8));
    }
  }

  /** The id identifies a response, so two open requests cannot share an id. */
  private static Answer refuseIds(List<Message.Request> requests) {
    return Answer.of(
        requests.stream()
            .map(request ->
                JsonRpcErrors.error(
                    request.id(),
                    JsonRpcErrorCode.INVALID_REQUEST,
                    "Invalid Request: the id is in use"))
            .toList());
  }

  @Override
  public void send(Body messages) {
    if (!channel().isAlive()) {
      throw new UpstreamException.SessionGone();
    }
    messages.cancelledRequestIds().forEach(channel().router()::cancel);
    channel().send(Utf8.singleLine(messages.bytes()), settings.startTimeout());
  }

  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    ChannelRouter router = channel().router();
    if (router.isOver()) {
      // The router ends its calls before the standalone stream.
      throw new UpstreamException.SessionGone();
    }
    return Optional.of(router.standalone().listen());
  }

  /** Always fails: the messages of a channel have no event ids. */
  @Override
  public MessageSource resume(String eventId) {
    Channel _ = channel();
    throw new UpstreamException.Broken("a stream over a channel cannot be resumed", null);
  }

  /** Returns at once; the channel ends in the background. */
  @Override
  public void end() {
    if (channel != null) {
      channel.stop(new UpstreamException.Broken("the session was ended", null));
    }
  }
}
