package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.initialize;
import static dev.holdfast.upstream.http.UpstreamFixture.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Detection of a server's transport. */
@Timeout(60)
class DetectingUpstreamTest {

  @RegisterExtension final UpstreamFixture fixture = new UpstreamFixture();

  private LegacyServer server;
  private DetectingUpstream upstream;

  @BeforeEach
  void start() {
    server = fixture.closing(new LegacyServer());
    upstream = fixture.detecting(settings(server.url()));
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 404, 405})
  void shouldFallBackWhenPostIsRefused(int status) {
    refuseAtTheAddressItself(status, "");

    UpstreamLink link = open();

    assertThat(upstream.placement(link)).isInstanceOf(Placement.Pinned.class);
    assertThat(server.posts().getLast().target()).isEqualTo("/messages?session=1");
  }

  @Test
  void shouldPreferStreamableHttp() {
    speakStreamableHttp();

    UpstreamLink link = open();

    assertThat(upstream.placement(link)).isInstanceOf(Placement.Anywhere.class);
    assertThat(link.session()).isEqualTo("s-1");
    assertThat(server.gets()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 403, 429, 500, 503})
  void shouldNotFallBackOnUnrelatedStatus(int status) {
    refuseAtTheAddressItself(status, "");

    assertIsRefused(status);
    assertThat(server.gets()).isEmpty();
  }

  @Test
  void shouldNotFallBackOnJsonRpcError() {
    refuseAtTheAddressItself(
        400, "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32602,\"message\":\"no\"}}");

    assertIsRefused(400);
    assertThat(server.gets()).isEmpty();
  }

  @Test
  void shouldReportFirstRefusalOfServerWithoutTransport() {
    refuseAtTheAddressItself(404, "");
    server.whenAsked = (_, wire) -> wire.answer(405, "", "");

    assertIsRefused(404);
  }

  @Test
  void shouldReportRefusalOfLegacyServer() {
    server.whenPosted =
        (request, wire) -> {
          if (request.target().equals("/mcp")) {
            wire.answer(404, "", "");
          } else {
            wire.answer(503, "", "").stall(); // Without a response on the stream.
          }
        };

    assertIsRefused(503);
  }

  @Test
  void shouldDetectReplacedServer() {
    refuseAtTheAddressItself(404, "");
    UpstreamLink old = open();

    speakStreamableHttp();
    assertThat(upstream.placement(open())).isInstanceOf(Placement.Anywhere.class);
    refuseAtTheAddressItself(404, "");

    assertThat(upstream.placement(open())).isInstanceOf(Placement.Pinned.class);
    assertThat(upstream.placement(old)).isInstanceOf(Placement.Pinned.class);
  }

  private void refuseAtTheAddressItself(int status, String error) {
    server.whenPosted =
        (request, wire) -> {
          if (request.target().equals("/mcp")) {
            wire.answer(status, error.isEmpty() ? "text/plain" : "application/json", error);
          } else {
            wire.answer(202, "", "");
          }
        };
  }

  private void speakStreamableHttp() {
    server.whenPosted =
        (_, wire) ->
            wire.answer(200, "application/json", LegacyServer.INITIALIZED, "Mcp-Session-Id: s-1");
  }

  private UpstreamLink open() {
    return Objects.requireNonNull(upstream.initialize(initialize()).link());
  }

  private void assertIsRefused(int status) {
    assertThatExceptionOfType(UpstreamException.Refused.class)
        .isThrownBy(() -> upstream.initialize(initialize()))
        .satisfies(refused -> assertThat(refused.status()).isEqualTo(status));
  }
}
