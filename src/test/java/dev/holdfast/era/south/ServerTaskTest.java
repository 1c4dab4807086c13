package dev.holdfast.era.south;

import static dev.holdfast.era.south.StatelessServer.response;
import static dev.holdfast.upstream.http.UpstreamFixture.settings;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.retry.Backoff;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.http.UpstreamFixture;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests about a task while its server does not answer. */
@Timeout(60)
class ServerTaskTest {

  private static final int RETRIES = 12;
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final String COMPLETED = "{\"status\":\"completed\",\"result\":{\"content\":[]}}";

  @RegisterExtension final UpstreamFixture fixture = new UpstreamFixture();

  private StatelessServer server;

  @BeforeEach
  void start() {
    server = fixture.closing(new StatelessServer());
    server.result("tasks/get", COMPLETED);
  }

  private ServerTask task(Duration patience) {
    return new ServerTask(
        "\"t\"",
        new ClientFacts("", "{}", "{}", null),
        fixture
            .upstream(UpstreamFixture.timeouts(LONG, LONG).apply(settings(server.http.url())))
            .attach(new UpstreamLink(null, "2026-07-28")),
        new Backoff(Duration.ofMillis(1), Duration.ofMillis(2), RETRIES, 0),
        patience);
  }

  /** Fails, then does the same as a server that completes the task. */
  private void failsFirst(String method, int failures, String result) {
    server.when(
        method,
        (request, wire) -> {
          if (server.requests(method).size() <= failures) {
            wire.answer(503, "text/plain", "later");
          } else {
            wire.answer(200, "application/json", response(request, result));
          }
        });
  }

  private static byte[] answers() {
    return JsonRpcMessages.of("tasks/update").set("1", "id").toBytes();
  }

  @Test
  void shouldSendAnswersAgainUntilTheServerIsBack() {
    failsFirst("tasks/update", RETRIES, "{}");
    failsFirst("tasks/get", RETRIES, COMPLETED);
    CompletableFuture<Integer> updated = new CompletableFuture<>();

    MessageSource source =
        task(LONG)
            .update(
                answers(), Set.of(), () -> updated.complete(server.requests("tasks/get").size()));

    assertThat(texts(source.take())).singleElement().asString().contains("\"content\":[]");
    assertThat(updated).isCompletedWithValue(0);
    assertThat(server.requests("tasks/update")).hasSize(RETRIES + 1);
    assertThat(server.requests("tasks/get")).hasSize(RETRIES + 1);
  }

  @Test
  void shouldGiveUpAfterAllRetries() {
    failsFirst("tasks/get", Integer.MAX_VALUE, "");

    MessageSource source = task(LONG).source(Set.of(), Duration.ZERO);

    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.Refused.class);
    assertThat(server.requests("tasks/get")).hasSize(RETRIES + 1);
  }

  @Test
  void shouldLeaveConnectionThatFellSilent() {
    server.when(
        "tasks/get",
        (request, wire) -> {
          switch (server.requests("tasks/get").size()) {
            case 1 -> wire.stall(); // Before the head of the answer.
            case 2 -> wire.beginEvents().stall();
            default -> wire.answer(200, "application/json", response(request, COMPLETED));
          }
        });

    MessageSource source = task(Duration.ofMillis(200)).source(Set.of(), Duration.ZERO);

    assertThat(texts(source.take())).singleElement().asString().contains("\"content\":[]");
    assertThat(server.requests("tasks/get")).hasSize(3);
  }

  @Test
  void shouldEndSilentPollWhenItIsClosed() {
    server.when("tasks/get", (_, wire) -> wire.stall());
    MessageSource source = task(LONG).source(Set.of(), Duration.ZERO);
    CompletableFuture<List<String>> taken =
        CompletableFuture.supplyAsync(() -> texts(source.take()), Thread::startVirtualThread);
    await().until(() -> !server.requests("tasks/get").isEmpty());

    source.close();

    assertThat(taken).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(List.of());
  }
}
