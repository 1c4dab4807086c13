package dev.holdfast.upstream.channel;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonLines;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.FixedMessageSource;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Speaks over one channel. */
final class ChannelSession implements UpstreamSession {

  private final Channel channel;
  private final ChannelSettings settings;

  ChannelSession(Channel channel, ChannelSettings settings) {
    this.channel = channel;
    this.settings = settings;
  }

  /**
   * {@inheritDoc}
   *
   * <p>A tool call and a batch are answered with a stream as soon as the server has them. Any other
   * request waits for the first message about it: if that is the response, it is the answer.
   *
   * @throws IllegalArgumentException if there is no request
   */
  @Override
  public Answer request(Body body) {
    List<Message.Request> requests =
        messages(body).stream()
            .filter(Message.Request.class::isInstance)
            .map(Message.Request.class::cast)
            .toList();
    if (requests.isEmpty()) {
      throw new IllegalArgumentException("There is no request in the body");
    }
    return channel
        .router()
        .open(requests)
        .map(exchange -> ask(body, exchange))
        .orElseGet(() -> idInUse(requests));
  }

  private Answer ask(Body body, Exchange exchange) {
    boolean answered = false;
    try {
      transmit(body);
      Answer answer = answer(body, exchange);
      answered = true;
      return answer;
    } finally {
      if (!answered) {
        List<RequestId> _ = channel.router().close(exchange);
      }
    }
  }

  private Answer answer(Body body, Exchange exchange) {
    if (body instanceof Body.Batch || exchange.isCall()) {
      return new Answer.Stream(source(exchange));
    }
    try {
      return awaitAnswer(exchange, settings.firstByteTimeout());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the waiting thread was interrupted", e);
    }
  }

  private Answer awaitAnswer(Exchange exchange, Duration most) throws InterruptedException {
    if (!exchange.queue().await(most)) {
      source(exchange).giveUp();
      throw new UpstreamException.TimedOut("it did not begin to answer");
    }
    if (exchange.isEventful()) {
      return new Answer.Stream(source(exchange));
    }
    List<UpstreamMessage> response = exchange.queue().take(most);
    if (response.isEmpty()) {
      throw new UpstreamException.Broken("the request was cancelled", null);
    }
    return new Answer.Json(response.getFirst().payload());
  }

  private ExchangeSource source(Exchange exchange) {
    return new ExchangeSource(channel, exchange, settings.idleTimeout());
  }

  /** Two requests with one id could not be told apart in what comes back. */
  private static Answer idInUse(List<Message.Request> requests) {
    if (requests.size() == 1) {
      return new Answer.Json(refusal(requests.getFirst()));
    }
    List<UpstreamMessage> errors =
        requests.stream().map(request -> new UpstreamMessage(refusal(request), null)).toList();
    return new Answer.Stream(new FixedMessageSource(errors));
  }

  private static byte[] refusal(Message.Request request) {
    return JsonRpcErrors.error(
        request.id(), JsonRpcErrorCode.INVALID_REQUEST.code(), "Invalid Request: the id is in use");
  }

  @Override
  public void send(Body messages) {
    if (!channel.isAlive()) {
      throw new UpstreamException.SessionGone();
    }
    transmit(messages);
  }

  private void transmit(Body body) {
    messages(body).stream()
        .filter(Message.Notification.class::isInstance)
        .map(message -> ((Message.Notification) message).cancelledRequestId())
        .filter(Objects::nonNull)
        .forEach(channel.router()::cancel);
    channel.send(JsonLines.singleLine(body.bytes()), settings.firstByteTimeout());
  }

  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    if (channel.router().isOver()) {
      // Its calls are told first, so the stream may not know it yet.
      throw new UpstreamException.SessionGone();
    }
    return Optional.of(new UnsolicitedSource(channel.router().unasked()));
  }

  /** {@inheritDoc} Always refused: the messages of a channel have no ids of their own. */
  @Override
  public MessageSource resume(String eventId) {
    throw new UpstreamException.Broken("what was said over a channel cannot be had again", null);
  }

  /** {@inheritDoc} Returns at once; the channel ends behind it. */
  @Override
  public void end() {
    channel.stop(new UpstreamException.Broken("the session was ended", null));
  }

  private static List<Message> messages(Body body) {
    return switch (body) {
      case Body.Single(Message message) -> List.of(message);
      case Body.Batch(List<Message> messages, _) -> messages;
    };
  }
}
