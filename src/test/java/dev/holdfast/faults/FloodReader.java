package dev.holdfast.faults;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.McpClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the events of a flood without keeping them, over one connection or several. Checks that
 * each is complete, that none is missing and that none comes twice.
 */
final class FloodReader {

  private static final Pattern NUMBER = Pattern.compile("\"n\":(\\d+)");
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final int bytes;
  private final int pauseEvery;
  private String id = "";
  private String data = "";
  private String lastId = "";
  private int seen;
  private boolean complete;
  private String error = "";
  private String head = "";
  private long resultBytes;
  private int actionAt;
  private Runnable action = () -> {};

  private FloodReader(int bytes, int pauseEvery) {
    this.bytes = bytes;
    this.pauseEvery = pauseEvery;
  }

  /** Expects so many bytes in each event. */
  static FloodReader of(int bytes) {
    return new FloodReader(bytes, Integer.MAX_VALUE);
  }

  /** Expects the same, and pauses for some milliseconds after every few events. */
  static FloodReader slow(int bytes) {
    return slow(bytes, 20);
  }

  /** The same, but pauses after so many events. */
  static FloodReader slow(int bytes, int pauseEvery) {
    return new FloodReader(bytes, pauseEvery);
  }

  /** Does something once an event has come. */
  FloodReader at(int number, Runnable then) {
    actionAt = number;
    action = then;
    return this;
  }

  /** Sends a call and reads until the end, or until so many events have come. */
  FloodReader call(URI endpoint, String session, String body, int most)
      throws IOException, InterruptedException {
    return send(request(endpoint, session).POST(HttpRequest.BodyPublishers.ofString(body)), most);
  }

  /** Reads on after the last event. */
  FloodReader resume(URI endpoint, String session, int most)
      throws IOException, InterruptedException {
    return send(request(endpoint, session).header("Last-Event-ID", lastId), most);
  }

  private FloodReader send(HttpRequest.Builder request, int most)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> answer = HTTP.send(request.build(), BodyHandlers.ofInputStream());
    head = answer.statusCode() + " " + answer.headers().map();
    try (InputStream body = answer.body()) {
      return read(body, most);
    }
  }

  /** Reads until the result, an error, the end, or until so many events have come. */
  FloodReader read(InputStream in, int most) throws IOException, InterruptedException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(in, US_ASCII));
    data = "";
    int before = seen;
    String line = complete ? null : lines.readLine();
    while (line != null) {
      take(line);
      if (complete || !error.isEmpty() || seen >= most) {
        break;
      }
      if (seen > before && seen % pauseEvery == 0) {
        // Makes the reader slower than its server. No result depends on it.
        Thread.sleep(5);
      }
      before = seen;
      line = lines.readLine();
    }
    return this;
  }

  private void take(String line) {
    if (line.startsWith("id:")) {
      id = line.substring("id:".length()).strip();
    } else if (line.startsWith("data:")) {
      data = line;
    } else if (line.isEmpty()) {
      event();
      lastId = id;
      data = "";
    }
  }

  private void event() {
    Matcher number = NUMBER.matcher(data.substring(0, Math.min(data.length(), 200)));
    if (number.find()) {
      assertThat(data).hasSizeGreaterThan(bytes);
      assertThat(Integer.parseInt(number.group(1))).isEqualTo(seen + 1);
      seen++;
      if (seen == actionAt) {
        action.run();
      }
    }
    if (data.contains("\"result\"")) {
      complete = true;
      resultBytes = data.length();
    } else if (data.contains("\"error\":")) {
      error = data;
    }
  }

  /** Checks that so many events have come, and then the result. */
  void assertHasAll(int events) {
    assertThat(seen).as(toString()).isEqualTo(events);
    assertThat(complete).as(toString()).isTrue();
  }

  private static HttpRequest.Builder request(URI endpoint, String session) {
    return HttpRequest.newBuilder(endpoint)
        .header("Accept", "application/json, text/event-stream")
        .header("Content-Type", "application/json")
        .header("Mcp-Session-Id", session)
        .header("MCP-Protocol-Version", McpClient.NEWEST);
  }

  /** How many events have come. */
  int seen() {
    return seen;
  }

  /** Whether the result has come. */
  boolean isComplete() {
    return complete;
  }

  /** The event with an error in place of a result; empty if none has come. */
  String error() {
    return error;
  }

  /** The size of the event with the result. */
  long resultBytes() {
    return resultBytes;
  }

  /** The status and the headers of the last response. */
  String head() {
    return head;
  }

  /** The id of the last complete event. */
  String lastId() {
    return lastId;
  }

  @Override
  public String toString() {
    return "%d events up to %s, complete=%s%s: %s".formatted(seen, lastId, complete, error, head);
  }
}
