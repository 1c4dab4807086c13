package dev.holdfast.era.south;

import static dev.holdfast.era.south.StatelessServer.member;
import static dev.holdfast.upstream.http.UpstreamFixture.body;
import static dev.holdfast.upstream.http.UpstreamFixture.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.http.UpstreamFixture;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The revision of a server, and the sessions that follow from it. */
@Timeout(60)
class EraUpstreamTest {

  private static final String INITIALIZED =
      "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{}}";

  @RegisterExtension final UpstreamFixture fixture = new UpstreamFixture();

  private StatelessServer server;
  private EraUpstream upstream;

  @BeforeEach
  void start() {
    server = fixture.closing(new StatelessServer());
    upstream = upstream(Era.AUTO);
  }

  static SessionStore store() {
    return new MemorySessionStore(
        Duration.ofMinutes(1), () -> new SessionLimits(10, 10, Map.of()), InstantSource.system());
  }

  private EraUpstream upstream(Era era) {
    return new EraUpstream(
        fixture.upstream(settings(server.http.url())),
        era,
        store(),
        Duration.ofSeconds(20),
        new ByteBudget(Long.MAX_VALUE),
        ResultCache.NONE);
  }

  private Handshake initialize(EraUpstream at, String version) {
    String json =
        ("{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":"
                + "{\"protocolVersion\":\"%s\",\"capabilities\":{\"roots\":{\"listChanged\":true},"
                + "\"elicitation\":{},\"tasks\":{}},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}")
            .formatted(version);
    return at.initialize((Message.Request) ((Body.Single) body(json)).message());
  }

  private static String text(Handshake handshake) {
    return new String(handshake.response(), StandardCharsets.UTF_8);
  }

  @Test
  void shouldPassMessagesOfNewClientOnWithoutSession() {
    // given
    server.result("tools/list", "{\"resultType\":\"complete\",\"tools\":[]}");
    String list =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":"
            + "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}";

    // when
    Handshake handshake = initialize(upstream, "2026-07-28");
    UpstreamSession session = upstream.attach(Objects.requireNonNull(handshake.link()));
    String answer =
        new String(
            session.request(body(list)).source().take().getFirst().payload(),
            StandardCharsets.UTF_8);

    // then
    assertThat(handshake.link()).isEqualTo(new UpstreamLink(null, "2026-07-28"));
    assertThat(text(handshake))
        .contains("\"id\":\"i\"", "\"supportedVersions\":[\"2026-07-28\"]")
        .contains("\"protocolVersion\":\"2026-07-28\"")
        .contains("\"serverInfo\":{\"name\":\"new\",\"version\":\"1\"}");
    assertThat(server.requests("tools/list")).containsExactly(list);
    assertThat(answer).contains("resultType");
    assertThat(server.requests("initialize")).isEmpty();
  }

  @Test
  void shouldAnswerOldClientInItsVersion() {
    Handshake handshake = initialize(upstream, "2025-06-18");

    UpstreamLink link = Objects.requireNonNull(handshake.link());
    assertThat(link.protocolVersion()).isEqualTo("2025-06-18");
    assertThat(text(handshake))
        .contains("\"protocolVersion\":\"2025-06-18\"", "\"tools\":{\"listChanged\":true}")
        .doesNotContain("supportedVersions", "resultType", "ttlMs", "cacheScope", "tasks");
    assertThat(upstream.placement(link))
        .isEqualTo(new Placement.InProcess("streamable-http", false, false));
    String asked = server.requests("server/discover").getFirst();
    assertThat(member(asked, "params", "_meta", "io.modelcontextprotocol/clientCapabilities"))
        .isEqualTo("{\"roots\":{},\"elicitation\":{\"form\":{}}}");
    assertThat(member(asked, "params", "_meta", "io.modelcontextprotocol/clientInfo"))
        .isEqualTo("{\"name\":\"c\",\"version\":\"1\"}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"2025-11-25", "2026-07-28"})
  void shouldOpenSessionAtOldServerAndRemember(String asked) {
    // given
    server.result("initialize", INITIALIZED);
    server.error("server/discover", 200, -32601, "");

    // when
    for (int i = 0; i < 2; i++) {
      UpstreamLink link = Objects.requireNonNull(initialize(upstream, asked).link());
      assertThat(link.protocolVersion()).isEqualTo("2025-11-25");
      assertThat(upstream.placement(link)).isInstanceOf(Placement.Anywhere.class);
    }

    // then
    assertThat(server.requests("server/discover")).hasSize(1);
    assertThat(server.requests("initialize"))
        .hasSize(2)
        .allSatisfy(request ->
            assertThat(member(request, "params", "protocolVersion")).isEqualTo("\"2025-11-25\""));
  }

  @Test
  void shouldFindOldServerByItsVersions() {
    server.result("initialize", INITIALIZED);
    server.result("server/discover", "{\"supportedVersions\":[\"2025-11-25\"]}");

    assertThat(initialize(upstream, "2026-07-28").link()).isNotNull();
    assertThat(server.requests("initialize")).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({"400, -32020, 0", "400, -32021, 0", "400, -32600, 1", "404, -32601, 1"})
  void shouldJudgeByErrors(int status, int code, int sessions) {
    server.result("initialize", INITIALIZED);
    server.error("server/discover", status, code, "");

    Handshake handshake = initialize(upstream, "2025-11-25");

    assertThat(server.requests("initialize")).hasSize(sessions);
    assertThat(handshake.link() != null).isEqualTo(sessions == 1);
    assertThat(text(handshake)).doesNotContain("-3202");
  }

  @Test
  void shouldAskAgainWhenTheRefusalNamesTheRevision() {
    server.error("server/discover", 400, -32022, ",\"data\":{\"supported\":[\"2026-07-28\"]}");
    server.result("initialize", INITIALIZED);

    assertThat(initialize(upstream, "2025-11-25").link()).isNotNull();

    assertThat(server.requests("server/discover")).hasSize(2);
    assertThat(server.requests("initialize")).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 403, 429})
  void shouldNotJudgeByUnrelatedStatus(int status) {
    server.when("server/discover", (_, wire) -> wire.answer(status, "", ""));

    for (int i = 0; i < 2; i++) {
      assertThatExceptionOfType(UpstreamException.Refused.class)
          .isThrownBy(() -> initialize(upstream, "2025-11-25"));
    }

    assertThat(server.requests("initialize")).isEmpty();
    assertThat(server.requests("server/discover")).hasSize(2);
  }

  @Test
  void shouldTryBothAtServerThatFails() {
    server.when("server/discover", (_, wire) -> wire.answer(500, "", ""));
    server.result("initialize", INITIALIZED);

    assertThat(initialize(upstream, "2025-11-25").link()).isNotNull();
    assertThat(initialize(upstream, "2025-11-25").link()).isNotNull();

    assertThat(server.requests("server/discover")).hasSize(2);
  }

  @Test
  void shouldNotAskServerOfKnownRevision() {
    server.result("initialize", INITIALIZED);

    assertThat(initialize(upstream(Era.OLD), "2026-07-28").link()).isNotNull();

    assertThat(server.requests("server/discover")).isEmpty();
  }

  @Test
  void shouldNotOpenSessionAtServerConfiguredAsNew() {
    server.error("server/discover", 404, -32601, "");

    assertThatThrownBy(() -> initialize(upstream(Era.NEW), "2025-11-25"))
        .hasMessageContaining("does not speak 2026-07-28");
    assertThat(server.requests("initialize")).isEmpty();
  }

  @Test
  void shouldRefuseVersionThatWasNotOffered() {
    server.error("server/discover", 404, -32601, "");
    server.result("initialize", INITIALIZED.replace("2025-11-25", "2026-07-28"));

    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> initialize(upstream, "2025-11-25"));
  }

  /** The server was replaced by one with sessions. */
  @Test
  void shouldEndSessionWhenServerHasBecomeOld() {
    UpstreamLink link = Objects.requireNonNull(initialize(upstream, "2025-11-25").link());
    server.error("server/discover", 400, -32000, "");
    server.error("tools/list", 400, -32000, "");
    String list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";

    assertThatExceptionOfType(UpstreamException.SessionGone.class)
        .isThrownBy(() -> upstream.attach(link).request(body(list)));
  }
}
