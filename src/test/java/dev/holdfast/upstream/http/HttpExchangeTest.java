package dev.holdfast.upstream.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.testing.ScriptedServer;
import io.vertx.core.Vertx;
import io.vertx.core.http.RequestOptions;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class HttpExchangeTest {

  private final Vertx vertx = Vertx.vertx();
  private final ScriptedServer server =
      ScriptedServer.playing((request, wire) ->
          wire.answer(200, "text/plain", "x".repeat(Integer.parseInt(request.body()))));
  private final HttpClients clients =
      new HttpClients(
          vertx, UpstreamFixture.settings(server.url()), new ByteBudget(Long.MAX_VALUE));
  private final HttpClients.ConnectionPool pool = clients.nextForCall();

  @AfterEach
  void close() {
    clients.close();
    server.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  /** Before, a short call waited for hundreds of readers that had many bytes to process. */
  @Test
  void shouldLetReadersOfManyBytesTakeTurns() {
    pool.turns().drainPermits();
    HttpExchange many = send(4_000_000);
    HttpExchange few = send(BodyQueue.LOW_WATER - 1);
    CompletableFuture<BodyQueue.Read> end = new CompletableFuture<>();
    Thread.startVirtualThread(() -> end.complete(readAll(many)));

    await().until(pool.turns()::hasQueuedThreads);
    assertThat(readAll(few)).isEqualTo(BodyQueue.Read.NoBytes.COMPLETE);

    pool.releaseTurn();
    assertThat(end.join()).isEqualTo(BodyQueue.Read.NoBytes.COMPLETE);
    assertThat(pool.turns().availablePermits()).isOne();
  }

  private static BodyQueue.Read readAll(HttpExchange exchange) {
    while (true) {
      BodyQueue.Read read = exchange.take(Deadline.NEVER);
      if (!(read instanceof BodyQueue.Read.Chunks)) {
        return read;
      }
    }
  }

  private HttpExchange send(int bytes) {
    HttpExchange exchange = new HttpExchange(pool);
    exchange.send(
        new RequestOptions().setAbsoluteURI(server.url().toString()),
        Integer.toString(bytes).getBytes(US_ASCII),
        Deadline.NEVER,
        Deadline.NEVER);
    return exchange;
  }
}
