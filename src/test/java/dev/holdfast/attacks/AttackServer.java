package dev.holdfast.attacks;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * An MCP server with three tools: {@code echo} answers at once, {@code hold} never does, and {@code
 * flood} sends many messages of one size before it answers. It answers batches, too, and reads a
 * large resource.
 */
final class AttackServer implements AutoCloseable {

  private static final Pattern ID = Pattern.compile("\"id\":(\"[^\"]*+\"|\\d++)");
  private static final Pattern VERSION = Pattern.compile("\"protocolVersion\":\"([-0-9]+)\"");
  private static final Pattern FLOOD = Pattern.compile("\"count\":(\\d+),\"bytes\":(\\d+)");

  /** About as long as the list of a few tools. */
  private static final String LIST =
      "{\"tools\":[{\"name\":\"echo\",\"description\":\"%s\",\"inputSchema\":{}}]}"
          .formatted("x".repeat(1300));

  /** Shared, because many of them are on their way at once. */
  private static final byte[] RESOURCE =
      "\"result\":{\"contents\":[{\"uri\":\"x:y\",\"text\":\"%s\"}]}}"
          .formatted("x".repeat(4_000_000))
          .getBytes(UTF_8);

  /** By size, and shared for the same reason. */
  private static final Map<Integer, byte[]> EVENTS = new ConcurrentHashMap<>();

  private final HttpServer server;
  private final CountDownLatch closed = new CountDownLatch(1);

  static {
    // By default it closes idle connections beyond 200, at the moment when one is used again.
    System.setProperty("sun.net.httpserver.maxIdleConnections", "100000");
    System.setProperty("sun.net.httpserver.idleInterval", "300");
  }

  AttackServer() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/mcp", this::answer);
    server.start();
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/mcp");
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
      Matcher id = ID.matcher(body);
      if (!exchange.getRequestMethod().equals("POST")) {
        exchange.sendResponseHeaders(405, -1);
      } else if (!id.find()) {
        exchange.sendResponseHeaders(202, -1);
      } else if (body.contains("\"hold\"")) {
        hold(exchange);
      } else if (body.contains("\"flood\"")) {
        flood(exchange, body, id.group(1));
      } else if (body.contains("resources/read")) {
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, 0);
        exchange
            .getResponseBody()
            .write("{\"jsonrpc\":\"2.0\",\"id\":%s,".formatted(id.group(1)).getBytes(UTF_8));
        exchange.getResponseBody().write(RESOURCE);
      } else {
        send(exchange, body.startsWith("[") ? batch(body) : result(id.group(1), resultOf(body)));
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private static String resultOf(String body) {
    Matcher version = VERSION.matcher(body);
    if (version.find()) {
      return "{\"protocolVersion\":\"%s\",\"capabilities\":{},\"serverInfo\":{}}"
          .formatted(version.group(1));
    }
    return body.contains("tools/list") ? LIST : "{\"content\":[]}";
  }

  private static String batch(String body) {
    return ID.matcher(body)
        .results()
        .map((MatchResult id) -> result(id.group(1), LIST))
        .collect(Collectors.joining(",", "[", "]"));
  }

  private static String result(String id, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}".formatted(id, result);
  }

  private static void send(HttpExchange exchange, String json) throws IOException {
    byte[] bytes = json.getBytes(UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private void hold(HttpExchange exchange) throws IOException, InterruptedException {
    beginEvents(exchange).flush();
    closed.await();
  }

  private static void flood(HttpExchange exchange, String body, String id) throws IOException {
    Matcher flood = FLOOD.matcher(body);
    if (!flood.find()) {
      throw new IOException("a flood without its size");
    }
    OutputStream out = beginEvents(exchange);
    byte[] event =
        EVENTS.computeIfAbsent(Integer.parseInt(flood.group(2)), AttackServer::eventOfSize);
    for (int n = 0; n < Integer.parseInt(flood.group(1)); n++) {
      out.write(event);
      out.flush();
    }
    out.write(("data: " + result(id, "{\"content\":[]}") + "\n\n").getBytes(UTF_8));
  }

  private static byte[] eventOfSize(int bytes) {
    return ("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
            + "\"info\",\"data\":\""
            + "x".repeat(bytes)
            + "\"}}\n\n")
        .getBytes(UTF_8);
  }

  private static OutputStream beginEvents(HttpExchange exchange) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    return exchange.getResponseBody();
  }

  @Override
  public void close() {
    closed.countDown();
    server.stop(0);
  }
}
