package dev.holdfast.relay.tail;

import dev.holdfast.timer.TimeLimit;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** A connection to a client over an HTTP response, which takes bytes in the background. */
public abstract class ResponseConnection implements ClientConnection {

  private final CompletableFuture<Void> gone = new CompletableFuture<>();

  // The writing thread writes these two.
  private CompletableFuture<Void> written = CompletableFuture.completedFuture(null);

  /** Completes when the bytes are written, or the client is gone. */
  private CompletableFuture<?> settled = written;

  /** Begins to write bytes; completes when the socket has taken them. */
  protected abstract CompletionStage<Void> send(byte[] bytes);

  /** Notes that the client is gone; returns false if that was known. */
  protected final boolean markGone() {
    return gone.complete(null);
  }

  /** Returns true if the client is gone. */
  protected final boolean isGone() {
    return gone.isDone();
  }

  @Override
  public final void write(byte[] bytes) throws ClientGoneException {
    if (isGone()) {
      throw new ClientGoneException(null);
    }
    written = send(bytes).toCompletableFuture();
    // The write may never complete if the socket dies while it is full; the close handler runs.
    settled = CompletableFuture.anyOf(written, gone);
  }

  @Override
  public final boolean awaitTaken(Duration timeout) throws ClientGoneException {
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
    if (written.state() != Future.State.SUCCESS) {
      // The bytes were not sent, and the end of the connection was known first. The tail must not
      // count them as delivered.
      throw new ClientGoneException(null);
    }
    return true;
  }

  @Override
  public final void onGone(Runnable listener) {
    CompletableFuture<Void> _ = gone.thenRun(listener);
  }
}
