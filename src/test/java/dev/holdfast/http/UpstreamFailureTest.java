package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that cannot be reached, are slow, refuse or break off; the session outlives them. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(Profiles.Usual.class)
class UpstreamFailureTest {

  @Test
  void shouldSayThatAServerCannotBeReached() {
    HttpResponse<String> refused = McpClient.at(Endpoints.server("down")).initialized();

    assertError(refused, 502, "\"id\":0", "cannot be reached");
    assertThat(refused.headers().map()).doesNotContainKey("mcp-session-id");
  }

  @Test
  void shouldSayThatThereIsNoSuchServer() {
    assertError(McpClient.at(Endpoints.server("nobody")).initialized(), 404, "No such server");
  }

  @Test
  void shouldSayThatAServerIsTooSlow() {
    McpClient client = McpClient.at(Endpoints.server("hasty"));

    HttpResponse<String> refused = client.post(request("resources/list"));

    assertError(refused, 504, "\"id\":7", "in time");
    assertStillServed(client);
  }

  @Test
  void shouldSayOnTheStreamThatAServerIsTooSlow() {
    McpClient client = McpClient.at(Endpoints.server("hasty"));

    FrameStream stream = client.call("stall", "{}");

    assertThat(stream.status()).isEqualTo(200);
    Frame.Event error = stream.event();
    assertThat(error.data()).contains("\"id\":1", "-32000", "in time", "outcome");
    assertThat(error.number()).isOne();
    assertThat(stream.rest()).containsExactly(new Frame.End(true));
    assertThat(client.resumeWhole(error.id()).statusCode()).isEqualTo(204);
    assertStillServed(client);
  }

  @ParameterizedTest
  @CsvSource({
    // What the server thinks of the gateway's own credentials is not the client's affair.
    "prompts/list, 502, status 401",
    "resources/templates/list, 502, status 500",
    "completion/complete, 502, broke off"
  })
  void shouldNotPassOnWhatAServerSaysInItsAnger(String method, int status, String message) {
    McpClient client = McpClient.at(Endpoints.server("scripted"));

    assertError(client.post(request(method)), status, "\"id\":7", message);
    assertStillServed(client);
  }

  @Test
  void shouldPassOnAnErrorInJsonRpc() {
    McpClient client = McpClient.at(Endpoints.server("scripted"));

    assertError(client.post(request("prompts/get")), 400, "\"id\":7", "-32099", "mine");
    assertStillServed(client);
  }

  @ParameterizedTest
  @ValueSource(strings = {"unauthorized", "conflict", "explain", "crash", "garbage"})
  void shouldEndACallThatIsRefusedWithItsError(String how) {
    McpClient client = McpClient.at(Endpoints.server("scripted"));

    FrameStream stream = client.call(how, "{}");
    List<Frame> frames = stream.rest();

    // With a status when the refusal comes at once, else on the stream: both are an end.
    assertThat(stream.raw())
        .contains("\"error\"", "\"id\":1")
        .doesNotContain(ScriptedUpstream.SECRET);
    assertThat(frames).last().isEqualTo(new Frame.End(true));
    assertStillServed(client);
  }

  @Test
  void shouldEndAStreamThatBreaksOffWithAnError() {
    McpClient client = McpClient.at(Endpoints.server("scripted"));

    List<Frame.Event> events = client.call("break", "{}").events();

    assertThat(events).extracting(Frame.Event::number).containsExactly(1L, 2L);
    assertThat(events.getFirst().data()).contains("almost");
    assertThat(events.getLast().data()).contains("\"id\":1", "-32000", "broke off");
    assertStillServed(client);
  }

  @Test
  void shouldEndTheSessionThatTheServerForgot() {
    McpClient client = McpClient.at(Endpoints.server("scripted"));

    FrameStream stream = client.call("gone", "{}");
    stream.rest();

    assertThat(stream.raw()).contains("\"id\":1", "-32001").doesNotContain("Secret");
  }

  private static void assertStillServed(McpClient client) {
    assertThat(client.call("quick", "{}").events())
        .singleElement()
        .satisfies(event -> assertThat(event.data()).contains("fine"));
  }

  private static String request(String method) {
    return "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\"}".formatted(method);
  }

  private static void assertError(HttpResponse<String> response, int status, String... parts) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(response.headers().firstValue("Content-Type").orElse(""))
        .startsWith("application/json");
    assertThat(response.body())
        .contains("\"jsonrpc\":\"2.0\"", "\"error\"")
        .contains(parts)
        .doesNotContain("Exception", "dev.holdfast", "127.0.0.1", ScriptedUpstream.SECRET);
  }
}
