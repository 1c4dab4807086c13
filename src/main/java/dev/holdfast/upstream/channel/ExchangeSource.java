package dev.holdfast.upstream.channel;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.List;

/** What the server says about requests, up to their last response. */
final class ExchangeSource implements MessageSource {

  private final Channel channel;
  private final Exchange exchange;
  private final Duration idleTimeout;

  /**
   * @param idleTimeout how long the server may be silent; zero for ever
   */
  ExchangeSource(Channel channel, Exchange exchange, Duration idleTimeout) {
    this.channel = channel;
    this.exchange = exchange;
    this.idleTimeout = idleTimeout;
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      return exchange.queue().take(idleTimeout);
    } catch (UpstreamException.TimedOut e) {
      giveUp();
      throw e;
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the reader was interrupted", e);
    }
  }

  /**
   * Closes it, and tells the server that its responses are not waited for any more: "the sender
   * SHOULD issue a cancellation" (MCP 2025-11-25, Lifecycle, Timeouts).
   */
  void giveUp() {
    for (RequestId id : channel.router().close(exchange)) {
      String notification =
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":"
              + id.json()
              + ",\"reason\":\"timed out\"}}";
      channel.sendLater(notification.getBytes(UTF_8));
    }
  }

  /** {@inheritDoc} Cancels nothing: whoever closes it before its end knows why. */
  @Override
  public void close() {
    List<?> _ = channel.router().close(exchange);
  }
}
