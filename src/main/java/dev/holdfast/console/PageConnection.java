package dev.holdfast.console;

import dev.holdfast.relay.tail.ResponseConnection;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.util.concurrent.CompletionStage;

/** The connection of a page that follows a call. */
final class PageConnection extends ResponseConnection {

  private final HttpServerResponse response;
  private final Runnable onEnd;

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
    if (markGone()) {
      onEnd.run();
    }
  }

  @Override
  protected CompletionStage<Void> send(byte[] bytes) {
    return response.write(Buffer.buffer(bytes)).toCompletionStage();
  }

  @Override
  public void abort() {
    if (!isGone()) {
      closed();
      response.reset();
    }
  }

  @Override
  public void end() {
    if (!isGone()) {
      var _ = response.end();
      closed();
    }
  }
}
