package dev.holdfast.testing;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Hands over every request of one connection when it is complete. */
final class RequestScanner extends HttpScanner {
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private final int connection;
  private final Consumer<Exchange> onRequest;
  private String head = "";
  private int requests;

  RequestScanner(int connection, Consumer<Exchange> onRequest) {
    this.connection = connection;
    this.onRequest = onRequest;
  }

  @Override
  void onHead(String newHead) {
    head = newHead;
  }

  @Override
  void onBody(byte b) {
    body.write(b);
  }

  @Override
  void onEnd() {
    requests++;
    var exchange = new Exchange(connection, requests, head, body.toString(StandardCharsets.UTF_8));
    body.reset();
    onRequest.accept(exchange);
  }

  @Override
  boolean isEndless(String head) {
    return false;
  }
}
