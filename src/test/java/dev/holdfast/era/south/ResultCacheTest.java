package dev.holdfast.era.south;

import static dev.holdfast.era.south.StatelessServer.member;
import static dev.holdfast.upstream.http.UpstreamFixture.body;
import static dev.holdfast.upstream.http.UpstreamFixture.event;
import static dev.holdfast.upstream.http.UpstreamFixture.settings;
import static dev.holdfast.upstream.http.UpstreamFixture.take;
import static dev.holdfast.upstream.http.UpstreamFixture.takeAll;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.http.UpstreamFixture;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients of 2026-07-28 at a server of that revision, whose results are kept. */
@Timeout(60)
class ResultCacheTest {

  private static final String KEPT =
      "{\"resultType\":\"complete\",\"ttlMs\":3600000,\"cacheScope\":\"public\",\"tools\":[]}";

  @RegisterExtension final UpstreamFixture fixture = new UpstreamFixture();

  private StatelessServer server;
  private EraUpstream upstream;
  private int lastId;

  @BeforeEach
  void start() {
    server = fixture.closing(new StatelessServer());
    upstream =
        new EraUpstream(
            fixture.upstream(settings(server.http.url())),
            Era.NEW,
            EraUpstreamTest.store(),
            Duration.ofSeconds(20),
            new ByteBudget(Long.MAX_VALUE),
            new ResultCache(3000));
  }

  /** Another session each time, as of another client. */
  private UpstreamSession session() {
    return upstream.attach(new UpstreamLink(null, "2026-07-28"));
  }

  private String ask(String method, String params) {
    String request =
        ("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{\"_meta\":{\"n\":%d,"
                + "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}%s}}")
            .formatted(++lastId, method, lastId, params);
    return texts(takeAll(session().request(body(request)).source())).getLast();
  }

  @Test
  void shouldAnswerAllClientsWithKeptResult() {
    server.result("tools/list", KEPT);

    String first = ask("tools/list", "");
    String second = ask("tools/list", "");

    assertThat(member(first, "id")).isEqualTo("1");
    assertThat(member(second, "id")).isEqualTo("2");
    assertThat(member(second, "result", "tools")).isEqualTo("[]");
    assertThat(Long.parseLong(member(second, "result", "ttlMs"))).isBetween(1L, 3_600_000L);
    assertThat(server.requests("tools/list")).hasSize(1);
    assertThat(ask("tools/list", ",\"cursor\":\"c\"")).contains("result");
    assertThat(server.requests("tools/list")).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"ttlMs\":3600000,\"cacheScope\":\"private\"}",
        "{\"ttlMs\":3600000}",
        "{\"ttlMs\":0,\"cacheScope\":\"public\"}",
        "{\"ttlMs\":-1,\"cacheScope\":\"public\"}",
        "{\"cacheScope\":\"public\"}",
        "{\"ttlMs\":3600000,\"cacheScope\":\"public\",\"resultType\":\"input_required\"}"
      })
  void shouldNotKeepResult(String result) {
    server.result("resources/read", result);

    assertThat(ask("resources/read", "")).contains("result");
    assertThat(ask("resources/read", "")).contains("result");

    assertThat(server.requests("resources/read")).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {",\"inputResponses\":{}", ",\"requestState\":\"s\""})
  void shouldNotKeepResultOfRetry(String params) {
    server.result("resources/read", KEPT);

    assertThat(ask("resources/read", params)).contains("result");
    assertThat(ask("resources/read", params)).contains("result");

    assertThat(server.requests("resources/read")).hasSize(2);
  }

  @Test
  void shouldNotKeepCallsAndErrors() {
    server.result("tools/call", KEPT);
    server.error("prompts/list", 200, -32603, "");

    for (int i = 0; i < 2; i++) {
      assertThat(ask("tools/call", ",\"name\":\"t\"")).contains("result");
      assertThat(ask("prompts/list", "")).contains("error");
    }

    assertThat(server.requests("tools/call")).hasSize(2);
    assertThat(server.requests("prompts/list")).hasSize(2);
  }

  @Test
  void shouldForgetExpiredResult() {
    server.result("tools/list", KEPT.replace("3600000", "1"));

    await()
        .untilAsserted(() -> {
          assertThat(ask("tools/list", "")).contains("result");
          assertThat(server.requests("tools/list").size()).isGreaterThan(1);
        });
  }

  @Test
  void shouldDropResultsAfterChange() {
    server.result("tools/list", KEPT);
    server.when(
        "subscriptions/listen",
        (_, wire) ->
            wire.beginEvents()
                .chunk(
                    event("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"))
                .stall());
    assertThat(ask("tools/list", "")).contains("result");
    String listen =
        "{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"subscriptions/listen\",\"params\":{}}";

    assertThat(take(fixture.closing(session().request(body(listen)).source()), 1)).hasSize(1);
    assertThat(ask("tools/list", "")).contains("result");

    assertThat(server.requests("tools/list")).hasSize(2);
  }

  @Test
  void shouldDropOldestResultsOfTooManyBytes() {
    server.result("resources/read", KEPT.replace("[]", "[\"" + "a".repeat(500) + "\"]"));

    for (int i = 0; i < 4; i++) {
      assertThat(ask("resources/read", ",\"uri\":\"x:" + i + "\"")).contains("result");
    }
    assertThat(ask("resources/read", ",\"uri\":\"x:3\"")).contains("result");
    assertThat(server.requests("resources/read")).hasSize(4);
    assertThat(ask("resources/read", ",\"uri\":\"x:0\"")).contains("result");

    assertThat(server.requests("resources/read")).hasSize(5);
  }

  @Test
  void shouldNotKeepResultThatIsTooLarge() {
    server.result("resources/read", KEPT.replace("[]", "[\"" + "a".repeat(3000) + "\"]"));

    assertThat(ask("resources/read", "")).contains("result");
    assertThat(ask("resources/read", "")).contains("result");

    assertThat(server.requests("resources/read")).hasSize(2);
  }
}
