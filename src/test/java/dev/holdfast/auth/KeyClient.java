package dev.holdfast.auth;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.testing.McpClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A client with a key.
 *
 * @param session null before it has one
 */
public record KeyClient(
    HttpClient http, URI gateway, AccessKey key, String path, @Nullable String session)
    implements AutoCloseable {

  public static final String INITIALIZE =
      """
      {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26",\
      "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\
      """;

  /** A client of the default upstream without a session. */
  public static KeyClient at(URI gateway, AccessKey key) {
    return new KeyClient(HttpClient.newHttpClient(), gateway, key, "/mcp", null);
  }

  /** Sends a message, and returns the whole answer. */
  public HttpResponse<String> post(String body) {
    return send(request(path).POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  /** Sends a request, and returns the text of the answer. */
  public String ask(String body) {
    return post(body).body();
  }

  public HttpResponse<String> delete() {
    return send(request(path).DELETE());
  }

  /** Opens a session. */
  public KeyClient initialized() {
    HttpResponse<String> opened = post(INITIALIZE);
    return new KeyClient(
        http, gateway, key, path, opened.headers().firstValue("Mcp-Session-Id").orElseThrow());
  }

  /** The id of the session. */
  public String sessionId() {
    return Objects.requireNonNull(session);
  }

  /** The same session, from another gateway or with another key. */
  public KeyClient with(URI other, AccessKey otherKey) {
    return new KeyClient(http, other, otherKey, path, session);
  }

  /** The same client that sends to another path. */
  public KeyClient to(String other) {
    return new KeyClient(http, gateway, key, other, session);
  }

  /** Follows a stream, line by line. */
  public Lines follow(String streamPath) {
    return lines(request(streamPath).header("Accept", "text/event-stream"));
  }

  /** Resumes a stream after an event. */
  public Lines resume(String lastEventId) {
    return lines(
        request(path).header("Accept", "text/event-stream").header("Last-Event-ID", lastEventId));
  }

  /** Sends a request, and follows its answer line by line. */
  public Lines stream(String body) {
    return lines(
        request(path)
            .header("Accept", "application/json, text/event-stream")
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private Lines lines(HttpRequest.Builder request) {
    try {
      return new Lines(http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream()));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException stop) {
      throw new IllegalStateException(stop);
    }
  }

  private HttpRequest.Builder request(String target) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(gateway.resolve(target))
            .timeout(Duration.ofSeconds(60))
            .header("Authorization", "Bearer " + key.value())
            .header("Content-Type", "application/json")
            .header("User-Agent", McpClient.USER_AGENT);
    return session == null ? request : request.header("Mcp-Session-Id", session);
  }

  private HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return http.send(
          request.header("Accept", "application/json, text/event-stream").build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException stop) {
      throw new IllegalStateException(stop);
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }

  /** The lines of a stream. */
  public static final class Lines {

    private final HttpResponse<InputStream> response;
    private final BufferedReader lines;

    private Lines(HttpResponse<InputStream> response) {
      this.response = response;
      lines = new BufferedReader(new InputStreamReader(response.body(), UTF_8));
    }

    public int status() {
      return response.statusCode();
    }

    /** Reads up to a line with a text, and returns it. */
    public String await(String text) {
      StringBuilder before = new StringBuilder();
      try {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          if (line.contains(text)) {
            return line;
          }
          before.append(line).append('\n');
        }
      } catch (IOException failure) {
        throw new UncheckedIOException(before.toString(), failure);
      }
      throw new AssertionError(text + " is not in " + before);
    }
  }
}
