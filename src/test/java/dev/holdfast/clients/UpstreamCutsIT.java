package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Fault;
import dev.holdfast.testing.Fault.Trigger;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The network between gateway and server fails: the client need not know. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class UpstreamCutsIT {
  private static final int STEPS = 30;
  private static final int CUTS = 6;

  private static NodeFixture resumable;
  private static NodeFixture forgetful;
  private static FaultProxy toResumable;
  private static FaultProxy toForgetful;
  private static Gateway gateway;

  @BeforeAll
  static void start() {
    resumable = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
    forgetful = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER, "--resumable", "false");
    toResumable = FaultProxy.inFrontOf(resumable.url());
    toForgetful = FaultProxy.inFrontOf(forgetful.url());
    gateway =
        Gateway.start(
            Map.of(
                "holdfast.upstreams.resumable.url", toResumable.url().toString(),
                "holdfast.upstreams.forgetful.url", toForgetful.url().toString(),
                "holdfast.stream.retry", "100ms"));
  }

  @AfterAll
  static void stop() {
    gateway.close();
    toForgetful.close();
    toResumable.close();
    forgetful.close();
    resumable.close();
  }

  @Test
  void shouldResumeTheServersStreamUnnoticed() {
    resumesTheServersStream(1);
  }

  @Test
  @Tag("long")
  void shouldResumeTheServersStreamUnnoticedElsewhere() {
    resumesTheServersStream(2);
  }

  private static void resumesTheServersStream(long seed) {
    StreamCuts cuts = StreamCuts.ofCall(CUTS, seed);
    toResumable.plan(cuts);
    TypeScriptClient client =
        TypeScriptClient.call(
            gateway.url("/servers/resumable/mcp"), "count", "{\"n\":30,\"intervalMs\":30}");

    client.hasCounted(STEPS);
    assertThat(client.errors()).isEmpty();
    assertThat(cuts.done()).isEqualTo(CUTS);
  }

  @Test
  void shouldEndTheCallWithAnErrorWhenTheServerCannotResume() {
    toForgetful.plan(exchange ->
        exchange.calls("tools/call") ? Fault.reset(Trigger.afterEvents(5)) : Fault.none());

    TypeScriptClient client =
        TypeScriptClient.call(
            gateway.url("/servers/forgetful/mcp"), "count", "{\"n\":30,\"intervalMs\":30}");

    assertThat(client.exitCode()).as(client.toString()).isOne();
    assertThat(client.progress()).containsExactly(1, 2, 3, 4, 5);
    assertThat(client.errors())
        .singleElement()
        .asString()
        .contains("-32000")
        .contains("the outcome of the request is unknown");
  }
}
