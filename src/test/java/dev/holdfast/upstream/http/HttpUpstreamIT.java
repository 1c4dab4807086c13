package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.body;
import static dev.holdfast.upstream.http.UpstreamFixture.takeAll;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testing.Fault;
import dev.holdfast.testing.Fault.Trigger;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Sessions with a server of the official SDK, over connections that fail. */
class HttpUpstreamIT {

  @AutoClose
  private static final NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);

  @RegisterExtension private final UpstreamFixture fixture = new UpstreamFixture();

  private UpstreamSession open(URI url) {
    HttpUpstream upstream = fixture.upstream(UpstreamFixture.settings(url));
    String initialize =
        """
        {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
        "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\
        """;
    var handshake = upstream.initialize(UpstreamFixture.request(initialize));
    UpstreamLink link = Objects.requireNonNull(handshake.link());
    UpstreamSession session = upstream.attach(link);
    session.send(body("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    return session;
  }

  private static List<String> call(UpstreamSession session, String tool, String arguments) {
    String call =
        """
        {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"%s","arguments":%s,\
        "_meta":{"progressToken":7}}}\
        """
            .formatted(tool, arguments);
    try (MessageSource source = ((Answer.Stream) session.request(body(call))).source()) {
      return texts(takeAll(source));
    }
  }

  private static void assertThatCounted(List<String> messages, int n) {
    assertThat(messages.subList(0, n))
        .extracting(text -> text.replaceAll(".*\"progress\":(\\d+).*", "$1"))
        .isEqualTo(IntStream.rangeClosed(1, n).mapToObj(Integer::toString).toList());
    assertThat(messages).hasSize(n + 1).last().asString().contains("counted " + n);
  }

  @Test
  void shouldCall() {
    // given
    UpstreamSession session = open(server.url());

    // when
    List<String> messages = call(session, "count", "{\"n\":100}");

    // then
    assertThatCounted(messages, 100);
  }

  @Test
  void shouldSurviveConnectionsThatBreakInsideEvents() {
    // given
    try (FaultProxy proxy = FaultProxy.inFrontOf(server.url())) {
      proxy.plan(exchange ->
          exchange.calls("tools/call") || exchange.header("Last-Event-ID").isPresent()
              ? Fault.reset(Trigger.insideEvent(4, 20))
              : Fault.none());
      UpstreamSession session = open(proxy.url());

      // when
      List<String> messages = call(session, "count", "{\"n\":10,\"intervalMs\":40}");

      // then
      assertThatCounted(messages, 10);
    }
  }

  @Test
  void shouldReconnectWhenServerClosesStream() {
    // given
    UpstreamSession session = open(server.url());

    // when
    List<String> messages = call(session, "test_reconnection", "{}");

    // then
    assertThat(messages).last().asString().contains("Reconnection test completed successfully");
  }

  @Test
  void shouldListen() {
    // given
    UpstreamSession session = open(server.url());
    try (MessageSource listening = session.listen(null).orElseThrow()) {

      // when
      call(session, "announce", "{\"text\":\"hear\"}");

      // then
      assertThat(texts(UpstreamFixture.take(listening, 1))).first().asString().contains("hear");
    }
  }

  @Test
  void onceEndedSessionShouldBeGone() {
    // given
    UpstreamSession session = open(server.url());

    // when
    session.end();

    // then
    assertThatThrownBy(() -> session.request(UpstreamFixture.call(1)))
        .isInstanceOf(UpstreamException.SessionGone.class);
  }
}
