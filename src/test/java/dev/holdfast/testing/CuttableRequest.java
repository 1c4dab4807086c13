package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A POST on a connection of its own. A client that cuts it still reads all that had arrived, so it
 * knows if it has the result.
 */
public final class CuttableRequest implements AutoCloseable {

  private final Socket socket;
  private final Queue<String> received = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  private CuttableRequest(Socket socket) {
    this.socket = socket;
  }

  /** Sends a body. */
  public static CuttableRequest post(URI url, Map<String, String> headers, String body)
      throws IOException {
    Socket socket = new Socket(url.getHost(), url.getPort());
    CuttableRequest request = new CuttableRequest(socket);
    StringBuilder head = new StringBuilder("POST " + url.getPath() + " HTTP/1.1\r\n");
    head.append("Host: ").append(url.getAuthority()).append("\r\nConnection: close\r\n");
    head.append("Accept: application/json, text/event-stream\r\n");
    head.append("Content-Type: application/json\r\n");
    headers.forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
    byte[] bytes = body.getBytes(UTF_8);
    head.append("Content-Length: ").append(bytes.length).append("\r\n\r\n");
    Thread.startVirtualThread(request::read);
    try {
      socket.getOutputStream().write((head + body).getBytes(UTF_8));
    } catch (IOException gone) {
      request.close();
      throw gone;
    }
    return request;
  }

  private void read() {
    try {
      InputStream in = socket.getInputStream();
      byte[] chunk = new byte[8192];
      for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
        received.add(new String(chunk, 0, n, UTF_8));
      }
    } catch (IOException cut) {
      received.add("\n[" + cut.getMessage() + "]");
    } finally {
      ended.complete(null);
    }
  }

  /** All that came so far: the head, and the body as it is. */
  public String received() {
    return String.join("", received);
  }

  /** Waits until a text came. */
  public CuttableRequest awaitText(String text) {
    await().until(() -> received().contains(text) || ended.isDone());
    if (!received().contains(text)) {
      throw new AssertionError(text + " did not come: " + received());
    }
    return this;
  }

  /** Lets the gateway know that the client is gone, and returns all that came before it knew. */
  public String cut() {
    try {
      socket.shutdownOutput();
    } catch (IOException gone) {
      received.add("\n[" + gone.getMessage() + "]");
    }
    return response();
  }

  /** Waits for the end, and returns all. */
  public String response() {
    ended.join();
    return received();
  }

  /** Returns true if the connection has ended within that time. */
  public boolean endsWithin(long millis) {
    try {
      ended.get(millis, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException open) {
      return false;
    } catch (InterruptedException | ExecutionException unexpected) {
      throw new IllegalStateException(unexpected);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException gone) {
      received.add("\n[" + gone.getMessage() + "]");
    }
  }
}
