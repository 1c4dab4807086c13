package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Fault;
import dev.holdfast.testing.Fault.Trigger;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The network between gateway and server fails: the client need not know. */
@Timeout(60)
class UpstreamCutsIT {
  private static final int STEPS = 30;
  private static final int CUTS = 6;

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
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        FaultProxy behind = FaultProxy.inFrontOf(server.url()).plan(cuts);
        Gateway gateway = gateway(behind)) {
      TypeScriptClient client =
          TypeScriptClient.call(gateway.url(), "count", "{\"n\":30,\"intervalMs\":30}");

      client.hasCounted(STEPS);
      assertThat(client.errors()).isEmpty();
      assertThat(cuts.done()).isEqualTo(CUTS);
    }
  }

  @Test
  void shouldEndTheCallWithAnErrorWhenTheServerCannotResume() {
    try (NodeFixture server =
            NodeFixture.start(NodeFixture.CONFORMANCE_SERVER, "--resumable", "false");
        FaultProxy behind = FaultProxy.inFrontOf(server.url());
        Gateway gateway = gateway(behind)) {
      behind.plan(exchange ->
          exchange.calls("tools/call") ? Fault.reset(Trigger.afterEvents(5)) : Fault.none());

      TypeScriptClient client =
          TypeScriptClient.call(gateway.url(), "count", "{\"n\":30,\"intervalMs\":30}");

      assertThat(client.exitCode()).as(client.toString()).isOne();
      assertThat(client.progress()).containsExactly(1, 2, 3, 4, 5);
      assertThat(client.errors())
          .singleElement()
          .asString()
          .contains("-32000")
          .contains("the outcome of the request is unknown");
    }
  }

  private static Gateway gateway(FaultProxy behind) {
    return Gateway.start(
        Map.of("holdfast.upstream.url", behind.url().toString(), "holdfast.stream.retry", "100ms"));
  }
}
