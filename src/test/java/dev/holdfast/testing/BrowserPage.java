package dev.holdfast.testing;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The page of a browser, driven by the Chrome DevTools Protocol. For one thread. */
public final class BrowserPage implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient http = HttpClient.newHttpClient();
  private final Map<Integer, CompletableFuture<JsonNode>> replies = new ConcurrentHashMap<>();
  private final AtomicInteger ids = new AtomicInteger();
  private final WebSocket socket;

  /**
   * Connects to the page of a browser.
   *
   * @param port the file in which the browser writes its port for this protocol
   */
  BrowserPage(Path port) {
    await().atMost(PATIENCE).until(() -> Files.exists(port) && Files.size(port) > 0);
    try {
      URI list = URI.create("http://127.0.0.1:" + Files.readAllLines(port).getFirst() + "/json");
      socket =
          http.newWebSocketBuilder().buildAsync(URI.create(address(list)), new Replies()).join();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The page may come later than the port. */
  private String address(URI list) {
    return await()
        .atMost(PATIENCE)
        .until(
            () ->
                JSON.readTree(
                        http.send(HttpRequest.newBuilder(list).build(), BodyHandlers.ofString())
                            .body())
                    .valueStream()
                    .filter(target -> target.path("type").asText().equals("page"))
                    .map(target -> target.path("webSocketDebuggerUrl").asText())
                    .findFirst()
                    .orElse(""),
            found -> !found.isEmpty());
  }

  /** Runs a script in the page and returns its result, when that is a promise its value. */
  public JsonNode run(String script) {
    ObjectNode parameters = JSON.createObjectNode();
    parameters.put("expression", script).put("returnByValue", true).put("awaitPromise", true);
    JsonNode reply = send("Runtime.evaluate", parameters);
    if (reply.has("exceptionDetails")) {
      throw new AssertionError(reply.toString());
    }
    return reply.path("result").path("value");
  }

  /** Waits until a script is true. A page that loads has no scripts for a moment. */
  public void waitFor(String script) {
    await()
        .atMost(PATIENCE)
        .alias(script)
        .ignoreExceptionsMatching(loads -> String.valueOf(loads).contains("execution context"))
        .until(() -> run(script).asBoolean());
  }

  /**
   * Changes how the page is shown.
   *
   * @param scheme {@code light} or {@code dark}
   */
  public void show(int width, int height, String scheme) {
    ObjectNode size = JSON.createObjectNode();
    size.put("width", width).put("height", height).put("deviceScaleFactor", 1).put("mobile", false);
    send("Emulation.setDeviceMetricsOverride", size);
    ObjectNode media = JSON.createObjectNode();
    media.putArray("features").addObject().put("name", "prefers-color-scheme").put("value", scheme);
    send("Emulation.setEmulatedMedia", media);
  }

  /** Writes a picture of the whole page. */
  public void save(Path png) {
    ObjectNode parameters = JSON.createObjectNode().put("captureBeyondViewport", true);
    String data = send("Page.captureScreenshot", parameters).path("data").asText();
    try {
      Files.createDirectories(png.toAbsolutePath().getParent());
      Files.write(png, Base64.getDecoder().decode(data));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private JsonNode send(String method, ObjectNode parameters) {
    int id = ids.incrementAndGet();
    CompletableFuture<JsonNode> reply = new CompletableFuture<>();
    replies.put(id, reply);
    ObjectNode command = JSON.createObjectNode().put("id", id).put("method", method);
    command.set("params", parameters);
    socket.sendText(command.toString(), true).join();
    JsonNode answer = reply.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    if (answer.has("error")) {
      throw new AssertionError(method + ": " + answer);
    }
    return answer.path("result");
  }

  /** Gives replies to the commands that wait for them, and ignores events. */
  private final class Replies implements WebSocket.Listener {

    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        complete(text.toString());
        text.setLength(0);
      }
      from.request(1);
      return CompletableFuture.completedStage(null);
    }

    private void complete(String message) {
      try {
        JsonNode reply = JSON.readTree(message);
        CompletableFuture<JsonNode> waiting = replies.remove(reply.path("id").asInt());
        if (waiting != null) {
          waiting.complete(reply);
        }
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
  }

  /** Closes the connection; the browser stays open. */
  @Override
  public void close() {
    socket.abort();
    http.shutdownNow();
  }
}
