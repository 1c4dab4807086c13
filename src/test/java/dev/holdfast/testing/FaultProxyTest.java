package dev.holdfast.testing;

import static dev.holdfast.testing.Fault.Trigger.afterBytes;
import static dev.holdfast.testing.Fault.Trigger.afterEvents;
import static dev.holdfast.testing.Fault.Trigger.insideEvent;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class FaultProxyTest {
  private static final String GET = "GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n";
  private static final String CALL =
      "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 36\r\n\r\n"
          + "{\"id\":1,\"method\":\"tools/call\",\"x\":1}";

  /** Keeps the upstream's answers open after their last event until the test is over. */
  private final CountDownLatch over = new CountDownLatch(1);

  private HttpServer upstream;
  private FaultProxy proxy;

  @BeforeEach
  void start() throws IOException {
    upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    upstream.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    upstream.createContext("/", this::answer);
    upstream.start();
    proxy =
        FaultProxy.inFrontOf(
            URI.create("http://127.0.0.1:" + upstream.getAddress().getPort() + "/mcp"));
  }

  @AfterEach
  void stop() {
    over.countDown();
    proxy.close();
    upstream.stop(0);
  }

  /** A comment and three events on GET, a plain body on everything else. */
  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      if (!exchange.getRequestMethod().equals("GET")) {
        exchange.sendResponseHeaders(200, 4);
        exchange.getResponseBody().write("done".getBytes(UTF_8));
        return;
      }
      exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
      exchange.sendResponseHeaders(200, 0);
      // Pieces that end inside a line show that events are found across chunks.
      for (String piece :
          new String[] {
            ": hi\n\n", "id: 1\nda", "ta: one\n\n", "data: two\n", "\ndata: three\n\n"
          }) {
        exchange.getResponseBody().write(piece.getBytes(UTF_8));
        exchange.getResponseBody().flush();
      }
      over.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void shouldForwardBothDirectionsUntouched() throws IOException {
    try (Socket client = connect()) {
      String answer = ask(client, CALL, "done");

      assertThat(answer).startsWith("HTTP/1.1 200").endsWith("\r\n\r\ndone");
    }
    assertThat(proxy.url().getPath()).isEqualTo("/mcp");
    assertThat(proxy.connections()).isEqualTo(1);
    await().untilAsserted(() -> assertThat(proxy.open()).isZero());
  }

  @Test
  void shouldCutAfterBytes() throws IOException {
    proxy.plan(_ -> Fault.reset(afterBytes(30)));

    Received received = readToEnd(GET);

    assertThat(received.text()).hasSize(30).startsWith("HTTP/1.1 200");
    assertThat(received.end()).isEqualTo(Fault.Ending.RESET);
  }

  @Test
  void shouldSwallowTheWholeAnswer() throws IOException {
    proxy.plan(_ -> Fault.finish(afterBytes(0)));

    assertThat(readToEnd(CALL)).isEqualTo(new Received("", Fault.Ending.FIN));
  }

  @Test
  void shouldCutAfterEvent() throws IOException {
    proxy.plan(_ -> Fault.reset(afterEvents(1)));

    Received received = readToEnd(GET);

    assertThat(received.text()).contains(": hi\n\n").endsWith("ta: one\n\n");
    assertThat(received.end()).isEqualTo(Fault.Ending.RESET);
  }

  @Test
  void shouldCutAfterEventWhoseBlankLineIsInTheNextChunk() throws IOException {
    proxy.plan(_ -> Fault.finish(afterEvents(2)));

    Received received = readToEnd(GET);

    assertThat(received.text()).containsPattern("data: two\n\r\n[0-9a-f]+\r\n\n$");
    assertThat(received.end()).isEqualTo(Fault.Ending.FIN);
  }

  @Test
  void shouldCutInsideEvent() throws IOException {
    proxy.plan(_ -> Fault.reset(insideEvent(3, 8)));

    Received received = readToEnd(GET);

    assertThat(received.text()).endsWith("\ndata: th");
  }

  @Test
  void shouldPlanEachRequestOfOneConnection() throws IOException {
    proxy.plan(exchange -> exchange.request() == 2 ? Fault.reset(afterBytes(12)) : Fault.none());

    try (Socket client = connect()) {
      ask(client, CALL, "done");
      client.getOutputStream().write(CALL.getBytes(UTF_8));

      assertThat(readToEnd(client)).isEqualTo(new Received("HTTP/1.1 200", Fault.Ending.RESET));
    }
    assertThat(proxy.connections()).isEqualTo(1);
    assertThat(proxy.exchanges())
        .allMatch(exchange -> exchange.calls("tools/call") && exchange.isA("POST"))
        .extracting(Exchange::requestLine, Exchange::connection, Exchange::request)
        .containsExactly(tuple("POST /mcp HTTP/1.1", 1, 1), tuple("POST /mcp HTTP/1.1", 1, 2));
  }

  @Test
  void shouldStallUntilReleased() throws Exception {
    proxy.plan(_ -> Fault.stall(afterEvents(1)));

    try (Socket client = connect()) {
      assertThat(ask(client, GET, "one\n\n")).endsWith("ta: one\n\n");
      var rest = CompletableFuture.supplyAsync(() -> readUntil(client, "three\n\n"));
      assertThatThrownBy(() -> rest.get(300, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      proxy.release();

      assertThat(rest.get()).contains("data: two\n").endsWith("data: three\n\n");
    }
  }

  @Test
  void shouldStallConnectionsToCome() throws Exception {
    proxy.stall();

    try (Socket client = connect()) {
      var answer = CompletableFuture.supplyAsync(() -> ask(client, CALL, "done"));
      await().until(() -> proxy.exchanges().size() == 1);
      assertThat(answer).isNotDone();
      proxy.release();

      assertThat(answer.get()).endsWith("done");
    }
  }

  @Test
  void shouldRefuseUntilItAcceptsAgain() throws IOException {
    try (Socket before = connect()) {
      // An answer shows that the connection was accepted and does not just wait for it.
      ask(before, CALL, "done");
      proxy.refuse();
      assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
      assertThat(ask(before, CALL, "done")).endsWith("done");
      proxy.accept();

      try (Socket after = connect()) {
        assertThat(ask(after, CALL, "done")).endsWith("done");
      }
    }
  }

  @Test
  void shouldCutAllConnections() throws IOException {
    try (Socket one = connect();
        Socket two = connect()) {
      ask(one, GET, "three\n\n");
      ask(two, CALL, "done");
      proxy.cutAll();

      assertThat(readToEnd(one).end()).isEqualTo(Fault.Ending.RESET);
      assertThat(readToEnd(two).end()).isEqualTo(Fault.Ending.RESET);
    }
  }

  @Test
  void shouldResetClientWhenUpstreamRefuses() throws IOException {
    upstream.stop(0);

    try (Socket client = connect()) {
      assertThat(readToEnd(client).end()).isEqualTo(Fault.Ending.RESET);
    }
  }

  private record Received(String text, Fault.Ending end) {}

  private Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), proxy.url().getPort());
  }

  private Received readToEnd(String request) throws IOException {
    try (Socket client = connect()) {
      client.getOutputStream().write(request.getBytes(UTF_8));
      return readToEnd(client);
    }
  }

  private static Received readToEnd(Socket client) throws IOException {
    var text = new ByteArrayOutputStream();
    try {
      InputStream in = client.getInputStream();
      for (int b = in.read(); b >= 0; b = in.read()) {
        text.write(b);
      }
      return new Received(text.toString(UTF_8), Fault.Ending.FIN);
    } catch (SocketException _) {
      return new Received(text.toString(UTF_8), Fault.Ending.RESET);
    }
  }

  private static String ask(Socket client, String request, String lastWords) {
    try {
      client.getOutputStream().write(request.getBytes(UTF_8));
      return readUntil(client, lastWords);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String readUntil(Socket client, String lastWords) {
    var text = new StringBuilder();
    try {
      InputStream in = client.getInputStream();
      while (!text.toString().endsWith(lastWords)) {
        int b = in.read();
        assertThat(b).as("next byte after %s", text).isNotNegative();
        text.append((char) b);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }
}
