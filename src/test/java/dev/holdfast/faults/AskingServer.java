package dev.holdfast.faults;

import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An MCP server for one call at a time, which ends only when the client has a say: {@code ask}
 * waits for an answer, {@code polite} ends its answer when it is cancelled, before it says that it
 * has heard, and {@code deaf} does not even then.
 */
final class AskingServer implements AutoCloseable {

  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");

  private final ScriptedServer server = ScriptedServer.playing(this::play);
  private volatile CountDownLatch spoken = new CountDownLatch(1);
  private volatile CountDownLatch ended = new CountDownLatch(1);

  URI url() {
    return server.url();
  }

  /** How often it was sent something. */
  long count(String text) {
    return server.requests().stream().filter(request -> request.body().contains(text)).count();
  }

  private void play(ScriptedRequest request, RawConnection wire) throws Exception {
    String body = request.body();
    if (!request.method().equals("POST")) {
      wire.answer(405, "", "");
    } else if (body.contains("\"initialize\"")) {
      wire.answer(
          200,
          "application/json",
          "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\","
              + "\"capabilities\":{},\"serverInfo\":{}}}",
          "Mcp-Session-Id: asking");
    } else if (body.contains("\"tools/call\"")) {
      call(body, wire);
    } else {
      if (body.contains("\"result\"") || body.contains("notifications/cancelled")) {
        spoken.countDown();
        ended.await();
      }
      wire.answer(202, "", "");
    }
  }

  private void call(String body, RawConnection wire) throws IOException, InterruptedException {
    spoken = new CountDownLatch(1);
    ended = new CountDownLatch(body.contains("deaf") ? 0 : 1);
    wire.beginEvents();
    if (body.contains("\"ask\"")) {
      wire.chunk(data("{\"jsonrpc\":\"2.0\",\"id\":\"e1\",\"method\":\"elicitation/create\"}"));
    } else {
      wire.chunk(data("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}"));
    }
    if (body.contains("deaf")) {
      wire.stall();
    }
    spoken.await();
    if (body.contains("\"ask\"")) {
      Matcher id = ID.matcher(body);
      boolean _ = id.find();
      wire.chunk(data("{\"jsonrpc\":\"2.0\",\"id\":" + id.group(1) + ",\"result\":{}}"));
    }
    wire.endChunks();
    ended.countDown();
  }

  private static String data(String json) {
    return "data: " + json + "\n\n";
  }

  @Override
  public void close() {
    server.close();
  }
}
