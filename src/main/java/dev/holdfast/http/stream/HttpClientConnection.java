package dev.holdfast.http.stream;

import dev.holdfast.budget.LogRate;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.relay.tail.ClientGoneException;
import dev.holdfast.relay.tail.ResponseConnection;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.server.spi.ServerHttpResponse;
import org.jspecify.annotations.Nullable;

/** A connection to a client over the body of an HTTP response. */
final class HttpClientConnection extends ResponseConnection {

  private static final Logger LOG = Logger.getLogger(HttpClientConnection.class);
  private static final LogRate LEFT = new LogRate(Duration.ofMillis(100));

  private final ServerHttpResponse response;
  private final Runnable reset;
  private final ConnectionLimit.Slot slot;
  private final Credentials.@Nullable Watch watch;

  /** Written by the writing thread. */
  private volatile boolean ended;

  /**
   * Creates a connection and sets the close handler of the response.
   *
   * @param reset closes the transport and discards pending bytes
   * @param slot released when the connection ends
   * @param watch closed when the connection ends; null for none
   */
  HttpClientConnection(
      ServerHttpResponse response,
      Runnable reset,
      ConnectionLimit.Slot slot,
      Credentials.@Nullable Watch watch) {
    this.response = response;
    this.reset = reset;
    this.slot = slot;
    this.watch = watch;
    response.setChunked(true);
    // Also called at the normal end of the response, when the listeners no longer matter.
    response.addCloseHandler(this::closed);
    if (response.closed()) {
      closed(); // The client has left before: no handler hears of that.
    }
  }

  private void closed() {
    if (markGone() && !ended && LOG.isDebugEnabled()) {
      LEFT.next()
          .ifPresent(before -> LOG.debugf("client left its stream not-logged-before=%s", before));
    }
  }

  @Override
  public boolean tryHold(long bytes) {
    return slot.tryHold(bytes);
  }

  @Override
  public void giveBack() {
    slot.giveBack();
  }

  @Override
  protected CompletionStage<Void> send(byte[] bytes) {
    return response.write(bytes);
  }

  @Override
  public void abort() {
    release();
    // Marked as gone first, so that the tail does not write to a closing transport.
    if (markGone()) {
      reset.run();
    }
  }

  private void release() {
    slot.release();
    if (watch != null) {
      watch.close();
    }
  }

  /** Sends the head, if it is still pending, the bytes and the end in one write. */
  @Override
  public void end(byte[] last) throws ClientGoneException {
    if (isGone()) {
      throw new ClientGoneException(null);
    }
    ended = true;
    release();
    response.end(last);
  }

  @Override
  public void end() {
    release();
    if (!ended && !isGone()) {
      ended = true;
      response.end();
    }
  }
}
