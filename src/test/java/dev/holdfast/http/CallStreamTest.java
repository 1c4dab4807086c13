package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.StatelessClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the messages of a call as a stream that can be read (Durable Streams protocol). */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Followed.class)
class CallStreamTest {

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private static final String NEXT = "Stream-Next-Offset";
  private static final String CLOSED = "Stream-Closed";
  private static final String UP_TO_DATE = "Stream-Up-To-Date";
  private static final String CURSOR = "Stream-Cursor";

  @Inject ControlledTool tool;

  private ControlledCall call() {
    return ControlledCall.start(McpClient.at(GatewayUrl.mcp()), tool);
  }

  private static String handle(FrameStream stream) {
    return stream.headers().firstValue("Holdfast-Call").orElseThrow();
  }

  private static String path(ControlledCall call) {
    return "/calls/" + handle(call.stream()) + "/stream";
  }

  private static <T> HttpResponse<T> send(
      String method, String path, BodyHandler<T> body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(GatewayUrl.of(path))
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    try {
      return HTTP.send(request.build(), body);
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static HttpResponse<String> get(String path, String... headers) {
    return send("GET", path, BodyHandlers.ofString(), headers);
  }

  private static FrameStream events(String path) {
    return new FrameStream(send("GET", path, BodyHandlers.ofInputStream()));
  }

  private static JsonNode json(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    assertThat(header(response, "Content-Type")).startsWith("application/json");
    return StatelessClient.json(response.body());
  }

  private static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }

  private static List<String> texts(JsonNode messages) {
    List<String> texts = new ArrayList<>();
    messages.forEach(each ->
        texts.add(
            each.at(each.has("result") ? "/result/content/0/text" : "/params/data").asText()));
    return texts;
  }

  private static JsonNode control(FrameStream stream) {
    JsonNode control = StatelessClient.json(stream.event().data());
    assertThat(control.has("streamNextOffset")).isTrue();
    return control;
  }

  private static List<String> data(FrameStream stream) {
    JsonNode array = StatelessClient.json(stream.event().data());
    assertThat(array.isArray()).isTrue();
    return texts(array);
  }

  /** The texts of all messages to the end. */
  private static List<String> messages(FrameStream stream) {
    return stream.events().stream()
        .map(event -> StatelessClient.json(event.data()))
        .filter(JsonNode::isArray)
        .flatMap(array -> texts(array).stream())
        .toList();
  }

  private static void finished(ControlledCall call) {
    call.finish();
    assertThat(call.stream().events().getLast().data()).contains("finished");
  }

  @Test
  void shouldReadACallFromItsStartToItsEnd() {
    ControlledCall call = call();

    HttpResponse<String> first = get(path(call));
    assertThat(texts(json(first))).containsExactly("begun");
    assertThat(header(first, UP_TO_DATE)).isEqualTo("true");
    assertThat(header(first, CLOSED)).isEmpty();

    call.send("more");
    finished(call);
    HttpResponse<String> rest = get(path(call) + "?offset=" + header(first, NEXT));
    assertThat(texts(json(rest))).containsExactly("more", "finished");
    assertThat(header(rest, UP_TO_DATE)).isEqualTo("true");
    assertThat(header(rest, CLOSED)).isEqualTo("true");

    HttpResponse<String> end = get(path(call) + "?offset=" + header(rest, NEXT));
    assertThat(end.body()).isEqualTo("[]");
    assertThat(header(end, NEXT)).isEqualTo(header(rest, NEXT));
    assertThat(header(end, CLOSED)).isEqualTo("true");
    assertThat(texts(json(get(path(call) + "?offset=-1"))))
        .containsExactly("begun", "more", "finished");
  }

  @Test
  void shouldSortOffsetsAsText() {
    ControlledCall call = call();
    List<String> offsets = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      offsets.add(header(get(path(call) + "?offset=now"), NEXT));
      call.send("m" + i);
      assertThat(call.stream().event().data()).contains("m" + i);
    }
    finished(call);

    assertThat(offsets).isSorted().doesNotHaveDuplicates();
    for (int i = 0; i < 12; i++) {
      assertThat(texts(json(get(path(call) + "?offset=" + offsets.get(i)))))
          .hasSize(13 - i)
          .startsWith("m" + i);
    }
  }

  @Test
  void shouldTellTheEnd() {
    ControlledCall call = call();

    HttpResponse<String> now = get(path(call) + "?offset=now");
    assertThat(now.body()).isEqualTo("[]");
    assertThat(header(now, UP_TO_DATE)).isEqualTo("true");
    assertThat(header(now, "Cache-Control")).isEqualTo("no-store");
    assertThat(header(now, "ETag")).isEmpty();
    HttpResponse<String> head = send("HEAD", path(call), BodyHandlers.ofString());
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(header(head, "Content-Type")).startsWith("application/json");
    assertThat(header(head, NEXT)).isEqualTo(header(now, NEXT));
    assertThat(header(head, CLOSED)).isEmpty();
    assertThat(header(head, "Cache-Control")).isEqualTo("no-store");

    finished(call);
    for (String method : List.of("GET", "HEAD")) {
      HttpResponse<String> end = send(method, path(call) + "?offset=now", BodyHandlers.ofString());
      assertThat(header(end, CLOSED)).isEqualTo("true");
      assertThat(header(end, NEXT)).isGreaterThan(header(now, NEXT));
    }
  }

  @Test
  void shouldWaitForMessages() {
    ControlledCall call = call();
    String poll = path(call) + "?live=long-poll&offset=";

    CompletableFuture<HttpResponse<String>> waiting =
        CompletableFuture.supplyAsync(() -> get(poll + "now"), Thread::startVirtualThread);
    HttpResponse<String> first = get(poll + "-1");
    call.send("more");

    HttpResponse<String> more = waiting.join();
    assertThat(texts(json(first))).contains("begun");
    // The event may have come before the request did.
    assertThat(more.statusCode() == 200 ? texts(json(more)) : List.of("more"))
        .containsExactly("more");
    assertThat(header(more, CURSOR)).matches("[0-9]+");
    finished(call);

    HttpResponse<String> end = get(poll + "now");
    assertThat(end.statusCode()).isEqualTo(204);
    assertThat(header(end, CLOSED)).isEqualTo("true");
    assertThat(header(end, UP_TO_DATE)).isEqualTo("true");
  }

  @Test
  void shouldNeverRepeatACursor() {
    ControlledCall call = call();
    finished(call);
    String poll = path(call) + "?live=long-poll&offset=-1&cursor=";

    String cursor = header(get(poll), CURSOR);
    for (int i = 0; i < 5; i++) {
      String next = header(get(poll + cursor), CURSOR);
      assertThat(Long.parseLong(next)).isGreaterThan(Long.parseLong(cursor));
      cursor = next;
    }
    assertThat(header(get(poll + "x"), CURSOR)).matches("[0-9]+");
    assertThat(header(get(poll + "9".repeat(40)), CURSOR)).matches("[0-9]{1,15}");
  }

  @Test
  void shouldFollowACallBesideItsClient() {
    ControlledCall call = call();
    try (FrameStream follower = events(path(call) + "?live=sse&offset=-1");
        FrameStream second = events(path(call) + "?live=sse&offset=now")) {
      assertThat(follower.status()).isEqualTo(200);
      assertThat(data(follower)).containsExactly("begun");
      assertThat(control(follower).path("upToDate").asBoolean()).isTrue();
      JsonNode begin = control(second);
      assertThat(begin.path("upToDate").asBoolean()).isTrue();
      assertThat(begin.path("streamCursor").asText()).matches("[0-9]+");

      for (int i = 0; i < 5; i++) {
        String text = "m" + i;
        call.send(text);
        assertThat(call.stream().event().data()).contains(text);
        assertThat(data(follower)).containsExactly(text);
        assertThat(control(follower).path("streamNextOffset").asText())
            .isGreaterThan(begin.path("streamNextOffset").asText());
      }
      finished(call);

      assertThat(data(follower)).containsExactly("finished");
      JsonNode end = control(follower);
      assertThat(end.path("streamClosed").asBoolean()).isTrue();
      assertThat(end.has("streamCursor")).isFalse();
      assertThat(follower.events()).isEmpty();
      assertThat(follower.raw()).contains("event: data\n", "event: control\n");
      assertThat(messages(second)).containsExactly("m0", "m1", "m2", "m3", "m4", "finished");
    }
  }

  @Test
  void shouldNotReplaceTheClient() {
    ControlledCall call = call();
    try (FrameStream _ = events(path(call) + "?live=sse&offset=-1")) {
      assertThat(texts(json(get(path(call))))).containsExactly("begun");
      call.assertContinues(call.stream(), 1);
    }
  }

  @Test
  void shouldEndACancelledCallWithoutAMessage() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);
    int _ =
        client
            .post(
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}"
                    .formatted(client.lastId()))
            .statusCode();
    assertThat(call.stream().events()).isEmpty();

    HttpResponse<String> all = get(path(call));
    assertThat(texts(json(all))).containsExactly("begun");
    assertThat(header(get(path(call) + "?offset=" + header(all, NEXT)), CLOSED)).isEqualTo("true");
    assertThat(get(path(call) + "?live=long-poll&offset=now").statusCode()).isEqualTo(204);
    call.finish();
  }

  @Test
  void shouldKeepPagesByTheirTag() {
    ControlledCall call = call();
    HttpResponse<String> page = get(path(call));
    String tag = header(page, "ETag");

    HttpResponse<String> same = get(path(call), "If-None-Match", "\"x\", W/" + tag);
    assertThat(same.statusCode()).isEqualTo(304);
    assertThat(header(same, "ETag")).isEqualTo(tag);
    assertThat(header(same, "Cache-Control")).isEqualTo("private, no-cache");
    assertThat(get(path(call), "If-None-Match", "\"x\"").statusCode()).isEqualTo(200);

    String end = path(call) + "?offset=" + header(page, NEXT);
    String open = header(get(end), "ETag");
    finished(call);
    HttpResponse<String> changed = get(path(call), "If-None-Match", tag);
    assertThat(texts(json(changed))).containsExactly("begun", "finished");
    String tail = path(call) + "?offset=" + header(changed, NEXT);
    assertThat(header(get(tail), "ETag")).endsWith(":c\"").isNotEqualTo(open);
  }

  @Test
  void shouldSayThatMessagesAreNoLongerKept() {
    String key = UUID.randomUUID().toString();
    FrameStream stream =
        McpClient.at(GatewayUrl.mcp()).call("manual", "{\"key\":\"%s\"}".formatted(key));
    String path = "/calls/" + handle(stream) + "/stream";
    stream.cut();
    // The log keeps 100 messages of a stream that nobody reads.
    tool.sendAndFinish(key, 300, 10);
    while (!header(get(path + "?offset=now"), CLOSED).equals("true")) {
      Thread.onSpinWait();
    }

    HttpResponse<String> gone = get(path);
    assertThat(gone.statusCode()).isEqualTo(410);
    String message = StatelessClient.json(gone.body()).at("/error/message").asText();
    String rest = message.substring(message.lastIndexOf(' ') + 1);
    assertThat(texts(json(get(path + "?offset=" + rest))))
        .hasSizeLessThan(300)
        .contains("finished");
    assertThat(get(path + "?live=sse&offset=-1").statusCode()).isEqualTo(410);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "offset=",
        "offset=0",
        "offset=1,2",
        "offset=0%201",
        "offset=-2",
        "offset=NOW",
        "offset=0000000000000000_000000000000000",
        "offset=0000000000000000_00000000000000001",
        "offset=%2B000000000000000_0000000000000001",
        "offset=-1&offset=now",
        "live=sse",
        "live=long-poll",
        "live=true&offset=-1",
        "live=sse&live=sse&offset=-1"
      })
  void shouldRefuseAMalformedQuery(String query) {
    ControlledCall call = call();

    HttpResponse<String> refused = get(path(call) + "?" + query);

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(StatelessClient.json(refused.body()).at("/error/message").asText()).isNotEmpty();
    assertThat(json(get(path(call) + "?other=1&offset=-1"))).hasSize(1);
    call.finish();
  }

  @Test
  void shouldNotFindOtherCalls() {
    ControlledCall call = call();
    String handle = handle(call.stream());
    String forged = handle.substring(0, 30) + (handle.charAt(30) == 'A' ? 'B' : 'A');

    Stream.of(
            "/calls/" + forged + handle.substring(31) + "/stream",
            "/calls/x/stream",
            // Of another upstream.
            "/servers/scripted/calls/" + handle + "/stream")
        .flatMap(path -> Stream.of(path, path + "?offset=now", path + "?offset=-1&live=sse"))
        .forEach(path -> {
          HttpResponse<String> unknown = get(path);
          assertThat(unknown.statusCode()).isEqualTo(404);
          assertThat(StatelessClient.json(unknown.body()).at("/error/message").asText())
              .isEqualTo("No such call");
          assertThat(header(unknown, "X-Content-Type-Options")).isEqualTo("nosniff");
        });
    call.finish();
  }

  @Test
  void shouldNotFindACallWhoseSessionHasEnded() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);
    String path = path(call);
    try (FrameStream follower = events(path + "?live=sse&offset=now")) {
      assertThat(control(follower).path("upToDate").asBoolean()).isTrue();

      assertThat(client.delete().statusCode()).isEqualTo(204);

      List<Frame.Event> rest = follower.events();
      assertThat(rest).noneMatch(event -> event.data().contains("\"result\""));
    }
    assertThat(get(path).statusCode()).isEqualTo(404);
    assertThat(send("HEAD", path, BodyHandlers.ofString()).statusCode()).isEqualTo(404);
    call.finish();
  }

  @ParameterizedTest
  @CsvSource({"POST", "PUT", "DELETE", "PATCH"})
  void shouldOnlyBeRead(String method) {
    ControlledCall call = call();

    HttpResponse<String> refused = send(method, path(call), BodyHandlers.ofString());

    assertThat(refused.statusCode()).isEqualTo(405);
    assertThat(StatelessClient.json(refused.body()).at("/error/message").asText()).isNotEmpty();
    call.finish();
  }

  @Test
  void shouldProtectBrowsers() {
    ControlledCall call = call();
    finished(call);

    for (String query : List.of("", "?offset=now", "?offset=-1&live=long-poll", "?offset=")) {
      HttpResponse<String> response = get(path(call) + query);
      assertThat(header(response, "X-Content-Type-Options")).isEqualTo("nosniff");
      assertThat(header(response, "Cross-Origin-Resource-Policy")).isEqualTo("same-origin");
    }
    try (FrameStream stream = events(path(call) + "?offset=-1&live=sse")) {
      assertThat(stream.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
      assertThat(stream.headers().firstValue("Cache-Control"))
          .hasValueSatisfying(value -> assertThat(value).contains("no-cache"));
    }
  }

  @Test
  void shouldNameOnlyCalls() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    HttpResponse<String> list =
        client.post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");

    assertThat(header(list, "Holdfast-Call")).isEmpty();
  }

  @Test
  void shouldReadACallOfAClientWithoutASession() {
    String key = UUID.randomUUID().toString();
    FrameStream stream =
        StatelessClient.at(GatewayUrl.mcp()).call("manual", "{\"key\":\"%s\"}".formatted(key));
    String path = "/calls/" + handle(stream) + "/stream";
    tool.sendAndFinish(key, 3, 1);

    try (FrameStream follower = events(path + "?live=sse&offset=-1")) {
      assertThat(messages(follower)).containsExactly("1:x", "2:x", "3:x", "finished");
    }
  }
}
