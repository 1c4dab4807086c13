package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.McpClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Optional;
import java.util.stream.Stream;

/** A session over Streamable HTTP. */
final class HttpServerSession implements ServerSession {
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI endpoint;
  private Optional<String> session = Optional.empty();
  private String version = "";
  private int nextId;

  HttpServerSession(URI endpoint) {
    this.endpoint = endpoint;
  }

  @Override
  public JsonNode ask(String method, String parameters) {
    int id = nextId++;
    HttpResponse<String> response = post(ServerSession.request(id, method, parameters));
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    JsonNode message =
        messages(response)
            .filter(each -> each.path("id").asInt(-1) == id && !each.has("method"))
            .findFirst()
            .orElseThrow(() -> new AssertionError("no response: " + response.body()));
    if (id == 0) {
      session = response.headers().firstValue("Mcp-Session-Id");
      version = message.at("/result/protocolVersion").asText();
    }
    return message;
  }

  /** A stream ends with the response. */
  private static Stream<JsonNode> messages(HttpResponse<String> response) {
    String type = response.headers().firstValue("Content-Type").orElse("");
    Stream<String> messages =
        type.startsWith("text/event-stream")
            ? response
                .body()
                .lines()
                .filter(line -> line.startsWith("data:"))
                .map(line -> line.substring("data:".length()).strip())
                .filter(data -> !data.isEmpty())
            : Stream.of(response.body());
    return messages.map(ServerSession::parse);
  }

  @Override
  public void tell(String method) {
    HttpResponse<String> response = post(ServerSession.notification(method));
    assertThat(response.statusCode()).as(response.body()).isEqualTo(202);
  }

  private HttpResponse<String> post(String message) {
    return send(
        HttpRequest.newBuilder(endpoint)
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(message)));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) {
    var _ = request.header("User-Agent", McpClient.USER_AGENT).timeout(LIMIT);
    session.ifPresent(id -> {
      var _ = request.header("Mcp-Session-Id", id).header("MCP-Protocol-Version", version);
    });
    try {
      return http.send(request.build(), BodyHandlers.ofString());
    } catch (IOException failure) {
      throw new AssertionError(endpoint + " did not answer", failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  @Override
  public void close() {
    try (http) {
      var _ = send(HttpRequest.newBuilder(endpoint).DELETE());
    }
  }
}
