package dev.holdfast.upstream.stdio;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;

/** What the process says about requests, up to their last response. */
final class ExchangeSource implements MessageSource {

  private final ChildProcess child;
  private final Exchange exchange;

  ExchangeSource(ChildProcess child, Exchange exchange) {
    this.child = child;
    this.exchange = exchange;
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      return exchange.queue().take(child.settings().idleTimeout());
    } catch (UpstreamException.TimedOut e) {
      // "The sender SHOULD issue a cancellation" (MCP 2025-11-25, Lifecycle, Timeouts).
      child.cancel(child.router().close(exchange));
      throw e;
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the reader was interrupted", e);
    }
  }

  /** {@inheritDoc} Cancels nothing: whoever closes it before its end knows why. */
  @Override
  public void close() {
    List<?> _ = child.router().close(exchange);
  }
}
