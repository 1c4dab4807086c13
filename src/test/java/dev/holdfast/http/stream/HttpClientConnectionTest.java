package dev.holdfast.http.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.http.limit.Client;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.socket.ResponseTransport;
import dev.holdfast.relay.tail.ClientGoneException;
import dev.holdfast.testing.LoggedLines;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jboss.resteasy.reactive.server.spi.ServerHttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Uses a scripted socket, since a real one does not fail at an exact moment. */
class HttpClientConnectionTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private static final Client CLIENT = Client.at("192.0.2.1");

  private final ConnectionLimit limit = new ConnectionLimit(() -> 2, () -> 1, 100, 10);
  private final AtomicInteger resets = new AtomicInteger();
  private final CompletableFuture<Void> written = new CompletableFuture<>();
  private final AtomicReference<Runnable> closed = new AtomicReference<>(() -> {});
  private final HttpClientConnection connection =
      new HttpClientConnection(response(), transport(), limit.acquire(CLIENT), null);
  private final CompletableFuture<Boolean> outcome = new CompletableFuture<>();

  private ServerHttpResponse response() {
    return (ServerHttpResponse)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {ServerHttpResponse.class},
            (response, method, arguments) -> {
              if (method.getName().equals("addCloseHandler")) {
                closed.set((Runnable) arguments[0]);
              }
              return method.getName().equals("closed") ? (Object) false : response;
            });
  }

  private ResponseTransport transport() {
    return new ResponseTransport() {
      @Override
      public CompletionStage<Void> write(byte[] bytes) {
        return written;
      }

      @Override
      public void end(byte[] last) {}

      @Override
      public void reset() {
        resets.incrementAndGet();
      }
    };
  }

  private Thread writer() {
    return Thread.ofVirtual()
        .start(() -> {
          try {
            connection.write(new byte[1]);
            outcome.complete(connection.awaitTaken(LONG));
          } catch (ClientGoneException gone) {
            outcome.complete(false);
          }
        });
  }

  @AfterEach
  void end() {
    closed.get().run();
  }

  @Test
  void shouldNotCountABlockedWriteWhenTheClientDisconnects() throws Exception {
    // A blocked write once counted as done when the socket closed. The standalone stream then
    // continued after a page that the client had not received.
    Thread writer = writer();
    await().until(() -> writer.getState() == Thread.State.WAITING);

    closed.get().run();

    assertThat(outcome.get()).isFalse();
  }

  @Test
  void shouldWaitUntilTheSocketHasTakenTheBytes() throws Exception {
    Thread writer = writer();
    await().until(() -> writer.getState() == Thread.State.WAITING);
    assertThat(outcome).isNotDone();

    written.complete(null);

    assertThat(outcome.get()).isTrue();
  }

  @Test
  void shouldReportAGoneClientWhenAWriteFails() throws InterruptedException, ExecutionException {
    written.completeExceptionally(new IllegalStateException("connection reset"));

    writer().join();

    assertThat(outcome.get()).isFalse();
  }

  @Test
  void shouldNotWaitLongerThanTheTimeout() throws ClientGoneException {
    connection.write(new byte[1]);

    assertThat(connection.awaitTaken(Duration.ofMillis(1))).isFalse();

    written.complete(null);
    assertThat(connection.awaitTaken(LONG)).isTrue();
  }

  @Test
  void shouldFreeTheWriterAndTheSlotOnAbort() throws Exception {
    Thread writer = writer();
    await().until(() -> writer.getState() == Thread.State.WAITING);

    connection.abort();
    connection.abort();

    assertThat(outcome.get()).isFalse();
    assertThat(resets).hasValue(1);
    assertThat(limit.acquire(CLIENT)).isNotNull();
  }

  @Test
  void shouldNotWriteToAGoneClient() {
    closed.get().run();
    written.complete(null);

    assertThatExceptionOfType(ClientGoneException.class)
        .isThrownBy(() -> connection.write(new byte[1]));
  }

  @Test
  void shouldLogAClientThatLeaves() {
    Logger logger = Logger.getLogger(HttpClientConnection.class.getName());
    logger.setLevel(Level.FINE);
    try (LoggedLines lines = new LoggedLines(HttpClientConnection.class)) {
      Runnable left = closed.get();
      HttpClientConnection complete =
          new HttpClientConnection(response(), transport(), limit.acquire(Client.at("::1")), null);
      complete.end();
      closed.get().run();
      assertThat(lines.lines()).isEmpty();

      left.run();

      assertThat(lines.lines())
          .singleElement(InstanceOfAssertFactories.STRING)
          .startsWith("client left its stream");
    } finally {
      logger.setLevel(null);
    }
  }
}
