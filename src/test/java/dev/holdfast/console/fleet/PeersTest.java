package dev.holdfast.console.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.protocol.Envelopes;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.upstream.UpstreamObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Servers and clients, as they introduce themselves. */
class PeersTest {

  private static final String OLD = "2025-11-25";
  private static final String NEW = "2026-07-28";

  private final Peers peers = new Peers(link -> "translated".equals(link.session()));
  private final UpstreamObserver observer = peers.of("files", _ -> "streamable-http");

  private void open(String client, String asked, String capabilities, UpstreamLink link) {
    String request =
        """
        {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"%s",\
        "capabilities":%s,"clientInfo":{"name":"%s","version":"1"}}}\
        """
            .formatted(asked, capabilities, client);
    String response =
        """
        {"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"Files","version":"2"}}}\
        """;
    observer
        .begin(UpstreamObserver.Kind.INITIALIZE, null, Envelopes.read(request.getBytes(UTF_8)))
        .opened(new Handshake(response.getBytes(UTF_8), link, List.of()));
  }

  private List<JsonObject> clients() {
    return peers.clients().stream().map(JsonObject.class::cast).toList();
  }

  private JsonObject client(String name) {
    return clients().stream()
        .filter(each -> each.getString("client").equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void shouldTellEraAbilitiesAndWhatIsTranslated() {
    open("old", OLD, "{\"elicitation\":{},\"sampling\":{}}", new UpstreamLink("s", OLD));
    open("old", OLD, "{\"roots\":{}}", new UpstreamLink("translated", OLD));
    open(
        "new",
        NEW,
        "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}",
        new UpstreamLink("s", OLD));

    JsonObject old = client("old/1");
    assertThat(old.getString("revision")).isEqualTo(OLD);
    assertThat(old.getJsonArray("can")).isEqualTo(new JsonArray().add("roots"));
    assertThat(old.getLong("sessions")).isEqualTo(2);
    assertThat(old.getLong("translated")).isEqualTo(1);
    JsonObject recent = client("new/1");
    assertThat(recent.getJsonArray("can")).isEqualTo(new JsonArray().add("tasks"));
    assertThat(recent.getLong("translated")).isEqualTo(1);
    JsonObject server = peers.server("files");
    assertThat(server.getString("revision")).isEqualTo(OLD);
    assertThat(server.getString("about")).isEqualTo("Files 2");
    assertThat(server.getLong("translated")).isEqualTo(2);

    open("new", NEW, "{}", new UpstreamLink(null, NEW));
    assertThat(peers.server("files").getString("revision")).isEqualTo(NEW);
    assertThat(client("new/1").getLong("translated")).isEqualTo(1);
  }

  @Test
  void shouldCountWhatIsMended() {
    UpstreamLink link = new UpstreamLink("s", OLD);
    var _ = observer.begin(UpstreamObserver.Kind.REOPEN, link, null);
    var _ = observer.begin(UpstreamObserver.Kind.RESUME, link, null);
    var _ = observer.begin(UpstreamObserver.Kind.RESUME, link, null);

    assertThat(peers.server("files").getLong("reopened")).isEqualTo(1);
    assertThat(peers.server("files").getLong("resumed")).isEqualTo(2);
  }

  @Test
  void shouldBoundWhatPeersChoose() {
    for (int i = 0; i < 500; i++) {
      open("client" + i + "x".repeat(5000), OLD, "{}", new UpstreamLink("s", OLD));
    }

    assertThat(clients()).hasSize(200);
    assertThat(clients())
        .allSatisfy(each -> assertThat(each.getString("client")).hasSizeLessThan(101));
  }

  @Test
  void shouldJoinWhatReplicasKnowOfAServer() {
    open("old", OLD, "{}", new UpstreamLink("s", OLD));
    JsonObject here =
        new ServerFigures(
                new SimpleMeterRegistry(), new UpstreamMonitor(), peers, () -> List.of("files"))
            .read();
    JsonObject there =
        new JsonObject()
            .put(
                "files",
                new JsonObject()
                    .put("up", false)
                    .put("calls", 3L)
                    .put("totalMillis", 30L)
                    .put("errors", new JsonObject().put("broken", 2L))
                    .put(
                        "failure",
                        new JsonObject()
                            .put("reason", "no connection")
                            .put("since", "2026-11-28T12:00:00Z")));

    JsonObject sum = ServerFigures.sum(Map.of("here", here, "there", there), "files");

    assertThat(sum.getBoolean("up")).isFalse();
    assertThat(sum.getInteger("downOn")).isEqualTo(1);
    assertThat(sum.getLong("calls")).isEqualTo(3);
    assertThat(sum.getLong("sessions")).isEqualTo(1);
    assertThat(sum.getString("revision")).isEqualTo(OLD);
    assertThat(sum.getJsonObject("errors").getLong("broken")).isEqualTo(2);
    assertThat(sum.getJsonObject("failure").getString("replica")).isEqualTo("there");
    assertThat(ServerFigures.sum(Map.of(), "files").getBoolean("up")).isTrue();
  }
}
