package dev.holdfast.era.south;

import static dev.holdfast.era.south.StatelessServer.member;
import static dev.holdfast.era.south.StatelessServer.response;
import static dev.holdfast.upstream.http.UpstreamFixture.body;
import static dev.holdfast.upstream.http.UpstreamFixture.initialize;
import static dev.holdfast.upstream.http.UpstreamFixture.take;
import static dev.holdfast.upstream.http.UpstreamFixture.takeAll;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.http.UpstreamFixture;
import dev.holdfast.upstream.stdio.StdioUpstream;
import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Programs of 2026-07-28, and others. */
@Timeout(60)
class StdioEraTest {

  private static final String ANSWERS =
      """
      while read -r line; do
        printf '%s\\n' "$line" >> received
        id=$(printf '%s' "$line" | sed 's/.*"id":\\("[^"]*"\\|[0-9]*\\).*/\\1/')
        case $line in
          *server/discover*) result='{"supportedVersions":["2026-07-28"],"capabilities":{}}';;
          *subscriptions/listen*)
            tag='"_meta":{"io.modelcontextprotocol/subscriptionId":'$id'}'
            for method in subscriptions/acknowledged tools/list_changed; do
              printf '{"jsonrpc":"2.0","method":"notifications/%s","params":{%s}}\\n' $method "$tag"
            done
            continue;;
          *cancelled*|*hang*) continue;;
          *inputResponses*) result='{"content":[]}';;
          *) result='{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}';;
        esac
        printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
      done
      """;

  private static final String OLD =
      """
      while read -r line; do
        case $line in
          *server/discover*) exit 1;;
          *initialize*) echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}';;
        esac
      done
      """;

  @RegisterExtension final UpstreamFixture fixture = new UpstreamFixture();

  @TempDir private Path directory;

  private EraUpstream upstream(String script) {
    Duration timeout = Duration.ofSeconds(20);
    StdioUpstreamSettings settings =
        new StdioUpstreamSettings(
            List.of("/bin/sh", "-c", script),
            Map.of(),
            directory,
            Duration.ofSeconds(1),
            new Channel.Settings("sh", 10, 10, timeout, timeout, 100_000, false));
    ByteBudget held = new ByteBudget(Long.MAX_VALUE);
    return fixture.closing(
        new EraUpstream(
            new StdioUpstream(settings, held),
            Era.AUTO,
            EraUpstreamTest.store(),
            timeout,
            held,
            ResultCache.NONE));
  }

  private UpstreamLink open(EraUpstream upstream) {
    String roots = "\"capabilities\":{\"roots\":{}},\"protocolVersion\"";
    String json =
        new String(initialize().bytes(), StandardCharsets.UTF_8)
            .replace("\"protocolVersion\"", roots);
    return Objects.requireNonNull(
        upstream.initialize((Message.Request) body(json).messages().getFirst()).link());
  }

  @Test
  void shouldTranslateMessagesOfOneProcess() throws IOException {
    // given
    EraUpstream upstream = upstream(ANSWERS);
    UpstreamLink link = open(upstream);
    UpstreamSession session = upstream.attach(link);

    // when
    MessageSource stream = fixture.closing(session.listen(null).orElseThrow());
    MessageSource call =
        session
            .request(body("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{}}"))
            .source();
    String asked = texts(take(call, 1)).getFirst();
    session.send(body(response(asked, "{\"roots\":[]}")));

    // then
    assertThat(texts(takeAll(call)))
        .containsExactly("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[]}}");
    assertThat(texts(take(stream, 1)).getFirst())
        .contains("tools/list_changed")
        .doesNotContain("subscriptionId");
    assertThat(upstream.placement(link)).isEqualTo(new Placement.Pinned("stdio", true, true));
    assertThat(upstream.processes().running()).isEqualTo(1);
    assertThat(received()).noneMatch(line -> line.contains("initialize"));
  }

  @Test
  void shouldCancelCallWhoseStreamIsClosed() {
    UpstreamSession session = upstreamSession();
    String hang =
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"hang\"}}";

    session.request(body(hang)).source().close();

    await()
        .untilAsserted(() ->
            assertThat(received())
                .anyMatch(line ->
                    line.contains("notifications/cancelled")
                        && member(line, "params", "requestId").equals("9")));
  }

  private UpstreamSession upstreamSession() {
    EraUpstream upstream = upstream(ANSWERS);
    return upstream.attach(open(upstream));
  }

  private List<String> received() throws IOException {
    return Files.readAllLines(directory.resolve("received"));
  }

  /** Some servers exit at a request that comes before {@code initialize}. */
  @Test
  void shouldStartAnotherProcessForOldServer() {
    EraUpstream upstream = upstream(OLD);

    UpstreamLink link = open(upstream);

    assertThat(link.protocolVersion()).isEqualTo("2025-11-25");
    assertThat(upstream.placement(link)).isEqualTo(new Placement.Pinned("stdio", true, true));
    await().until(() -> upstream.processes().running() == 1);
  }
}
