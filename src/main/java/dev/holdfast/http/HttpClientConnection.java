package dev.holdfast.http;

import dev.holdfast.relay.tail.ClientConnection;
import dev.holdfast.relay.tail.ClientGoneException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jboss.resteasy.reactive.server.spi.ServerHttpResponse;

/** The body of an HTTP response as the way to a client. */
final class HttpClientConnection implements ClientConnection {

  private final ServerHttpResponse response;
  private final Runnable reset;
  private final CompletableFuture<Void> gone = new CompletableFuture<>();
  private final ConnectionLimit.Slot slot;

  /** Owned by the thread that writes, as is what follows. */
  private boolean ended;

  private CompletableFuture<Void> written = CompletableFuture.completedFuture(null);

  /** Done when the bytes are written, or the client is gone. */
  private CompletableFuture<?> settled = written;

  /**
   * Takes over a response.
   *
   * @param reset cuts the response off, whatever waits to be sent
   */
  HttpClientConnection(ServerHttpResponse response, Runnable reset, ConnectionLimit.Slot slot) {
    this.response = response;
    this.reset = reset;
    this.slot = slot;
    response.setChunked(true);
    // Also called when we end the response ourselves; then nobody listens any more.
    response.addCloseHandler(() -> gone.complete(null));
  }

  @Override
  public void write(byte[] bytes) throws ClientGoneException {
    if (gone.isDone()) {
      throw new ClientGoneException(null);
    }
    written = response.write(bytes).toCompletableFuture();
    // A write to a socket that dies while it is full may never be answered: its end frees us too.
    settled = CompletableFuture.anyOf(written, gone);
  }

  @Override
  public boolean awaitTaken(Duration most) throws ClientGoneException {
    try {
      settled.get(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException full) {
      return false;
    } catch (ExecutionException failed) {
      throw new ClientGoneException(failed.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new ClientGoneException(stopped);
    }
    if (!written.isDone()) {
      // Its bytes never left us: to say that they did would count them as delivered.
      throw new ClientGoneException(null);
    }
    return true;
  }

  @Override
  public void abort() {
    slot.giveBack();
    // First, so that nobody writes to what is being cut off.
    if (gone.complete(null)) {
      reset.run();
    }
  }

  @Override
  public void onGone(Runnable listener) {
    CompletableFuture<Void> _ = gone.thenRun(listener);
  }

  /** One write for the head, if it is still to be sent, the bytes and the end. */
  @Override
  public void end(byte[] last) throws ClientGoneException {
    if (gone.isDone()) {
      throw new ClientGoneException(null);
    }
    ended = true;
    slot.giveBack();
    response.end(last);
  }

  @Override
  public void end() {
    slot.giveBack();
    if (!ended && !gone.isDone()) {
      ended = true;
      response.end();
    }
  }
}
