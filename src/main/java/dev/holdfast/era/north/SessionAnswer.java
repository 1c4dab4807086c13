package dev.holdfast.era.north;

import dev.holdfast.log.Position;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.tail.ClientConnection;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.Translation;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for the answer to a request of the gateway itself, which may come as a stream. */
final class SessionAnswer implements Translation, ClientConnection {

  private static final byte[] NOTHING = {};
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final CompletableFuture<Optional<Message.Response>> answer = new CompletableFuture<>();

  private SessionAnswer() {}

  /** Returns true if the answer is a result. */
  static boolean isResult(Reply reply) {
    SessionAnswer waiting = new SessionAnswer();
    switch (reply) {
      case Reply.Json(byte[] document, _) -> {
        byte[] _ = waiting.translate(Position.START, document);
      }
      case Reply.Stream(Tail tail, _) -> tail.translated(waiting, null).run(waiting);
      default -> {
        return true;
      }
    }
    try {
      return waiting
          .answer
          .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
          .filter(response -> !response.error())
          .isPresent();
    } catch (TimeoutException | ExecutionException silent) {
      return false;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  public byte[] translate(Position position, byte[] message) {
    if (Envelopes.read(message) instanceof Body.Single(Message.Response response)) {
      boolean _ = answer.complete(Optional.of(response));
    }
    return NOTHING;
  }

  @Override
  public void closed(boolean left) {
    boolean _ = answer.complete(Optional.empty());
  }

  @Override
  public void write(byte[] bytes) {}

  @Override
  public boolean awaitTaken(Duration most) {
    return true;
  }

  @Override
  public void abort() {}

  @Override
  public void onGone(Runnable listener) {}

  @Override
  public void end() {}
}
