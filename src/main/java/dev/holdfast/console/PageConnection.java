package dev.holdfast.console;

import dev.holdfast.relay.tail.ClientConnection;
import dev.holdfast.relay.tail.ClientGoneException;
import dev.holdfast.timer.TimeLimit;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** The connection of a page that follows a call. */
final class PageConnection implements ClientConnection {

  private final HttpServerResponse response;
  private final Runnable onEnd;
  private final CompletableFuture<Void> gone = new CompletableFuture<>();

  // For the one writing thread.
  private CompletableFuture<Void> written = CompletableFuture.completedFuture(null);

  /**
   * Begins the response.
   *
   * @param onEnd runs once when the connection ends
   */
  PageConnection(HttpServerResponse response, Runnable onEnd) {
    this.response = response;
    this.onEnd = onEnd;
    response.setChunked(true).putHeader("Content-Type", "text/event-stream");
    response.closeHandler(_ -> closed());
    response.exceptionHandler(_ -> closed());
    if (response.closed()) {
      closed(); // The page has left before: no handler hears of that.
    }
  }

  private void closed() {
    if (gone.complete(null)) {
      onEnd.run();
    }
  }

  @Override
  public void write(byte[] bytes) throws ClientGoneException {
    if (gone.isDone()) {
      throw new ClientGoneException(null);
    }
    written = response.write(Buffer.buffer(bytes)).toCompletionStage().toCompletableFuture();
  }

  @Override
  public boolean awaitTaken(Duration most) throws ClientGoneException {
    CompletableFuture<Object> settled = CompletableFuture.anyOf(written, gone);
    try {
      if (!TimeLimit.await(settled, most)) {
        return false;
      }
      Object _ = settled.get();
    } catch (ExecutionException failed) {
      throw new ClientGoneException(failed.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new ClientGoneException(stopped);
    }
    if (!written.isDone()) {
      throw new ClientGoneException(null);
    }
    return true;
  }

  @Override
  public void abort() {
    if (!gone.isDone()) {
      closed();
      response.reset();
    }
  }

  @Override
  public void onGone(Runnable listener) {
    CompletableFuture<Void> _ = gone.thenRun(listener);
  }

  @Override
  public void end() {
    if (!gone.isDone()) {
      var _ = response.end();
      closed();
    }
  }
}
