package dev.holdfast.http.stream;

import dev.holdfast.budget.LogRate;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.relay.tail.ClientConnection;
import dev.holdfast.relay.tail.ClientGoneException;
import dev.holdfast.timer.TimeLimit;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.server.spi.ServerHttpResponse;
import org.jspecify.annotations.Nullable;

/** A connection to a client over the body of an HTTP response. */
final class HttpClientConnection implements ClientConnection {

  private static final Logger LOG = Logger.getLogger(HttpClientConnection.class);
  private static final LogRate LEFT = new LogRate(Duration.ofMillis(100));

  private final ServerHttpResponse response;
  private final Runnable reset;
  private final CompletableFuture<Void> gone = new CompletableFuture<>();
  private final ConnectionLimit.Slot slot;
  private final Credentials.@Nullable Watch watch;

  // The writing thread writes these three.
  private volatile boolean ended;
  private CompletableFuture<Void> written = CompletableFuture.completedFuture(null);

  /** Completes when the bytes are written, or the client is gone. */
  private CompletableFuture<?> settled = written;

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
    if (gone.complete(null) && !ended && LOG.isDebugEnabled()) {
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
  public void write(byte[] bytes) throws ClientGoneException {
    if (gone.isDone()) {
      throw new ClientGoneException(null);
    }
    written = response.write(bytes).toCompletableFuture();
    // The write may never complete if the socket dies while it is full; the close handler runs.
    settled = CompletableFuture.anyOf(written, gone);
  }

  @Override
  public boolean awaitTaken(Duration timeout) throws ClientGoneException {
    try {
      if (!TimeLimit.await(settled, timeout)) {
        return false;
      }
      var _ = settled.get();
    } catch (ExecutionException failed) {
      throw new ClientGoneException(failed.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new ClientGoneException(stopped);
    }
    if (!written.isDone()) {
      // The bytes were not sent. The tail must not count them as delivered.
      throw new ClientGoneException(null);
    }
    return true;
  }

  @Override
  public void abort() {
    release();
    // Marked as gone first, so that the tail does not write to a closing transport.
    if (gone.complete(null)) {
      reset.run();
    }
  }

  private void release() {
    slot.release();
    if (watch != null) {
      watch.close();
    }
  }

  @Override
  public void onGone(Runnable listener) {
    CompletableFuture<Void> _ = gone.thenRun(listener);
  }

  /** Sends the head, if it is still pending, the bytes and the end in one write. */
  @Override
  public void end(byte[] last) throws ClientGoneException {
    if (gone.isDone()) {
      throw new ClientGoneException(null);
    }
    ended = true;
    release();
    response.end(last);
  }

  @Override
  public void end() {
    release();
    if (!ended && !gone.isDone()) {
      ended = true;
      response.end();
    }
  }
}
