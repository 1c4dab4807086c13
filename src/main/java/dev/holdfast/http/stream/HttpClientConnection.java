package dev.holdfast.http.stream;

import dev.holdfast.budget.LogRate;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.socket.ClientSocket;
import dev.holdfast.http.socket.ResponseTransport;
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

  private final ConnectionLimit.Slot slot;
  private final Credentials.@Nullable Watch watch;

  private volatile ResponseTransport transport;

  /** True once the end of the response is no news of the client: it was detached. */
  private volatile boolean isDetached;

  /** Written by the writing thread. */
  private volatile boolean ended;

  /**
   * Creates a connection and sets the close handler of the response.
   *
   * @param slot released when the connection ends
   * @param watch closed when the connection ends; null for none
   */
  HttpClientConnection(
      ServerHttpResponse response,
      ResponseTransport transport,
      ConnectionLimit.Slot slot,
      Credentials.@Nullable Watch watch) {
    this.transport = transport;
    this.slot = slot;
    this.watch = watch;
    response.setChunked(true);
    // Also called at the normal end of the response, when the listeners no longer matter.
    response.addCloseHandler(this::responseClosed);
    if (response.closed()) {
      closed(); // The client has left before: no handler hears of that.
    }
  }

  private void responseClosed() {
    if (!isDetached) {
      closed();
    }
  }

  private void closed() {
    if (markGone() && !ended && LOG.isDebugEnabled()) {
      LEFT.next()
          .ifPresent(before -> LOG.debugf("client left its stream not-logged-before=%s", before));
    }
  }

  @Override
  public void idle() {
    if (isGone() || !(transport instanceof ClientSocket whole)) {
      return;
    }
    isDetached = true;
    transport = whole.detach(this::closed);
    isDetached = !(transport instanceof ClientSocket);
    if (!isDetached && whole.isClosed()) {
      closed(); // The handler has not said so meanwhile.
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
    return transport.write(bytes);
  }

  @Override
  public void abort() {
    release();
    // Marked as gone first, so that the tail does not write to a closing transport.
    if (markGone()) {
      transport.reset();
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
    transport.end(last);
  }

  @Override
  public void end() {
    release();
    if (!ended && !isGone()) {
      ended = true;
      transport.end(new byte[0]);
    }
  }
}
