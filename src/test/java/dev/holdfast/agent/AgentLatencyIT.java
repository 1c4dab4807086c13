package dev.holdfast.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jboss.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Measures the time from the write of an agent to the read of its client. Judges nothing by it. */
@Tag("long")
@Timeout(120)
class AgentLatencyIT {

  private static final Logger LOG = Logger.getLogger(AgentLatencyIT.class);

  private static final int AGENTS = 50;
  private static final int MESSAGES = 20;

  /** Each message is the time at which it is written, in nanoseconds since the epoch. */
  private static final String SCRIPT =
      """
      sleep 3
      i=0
      while [ $i -lt %d ]; do
        echo '{"type":"message","role":"assistant","text":"'$(date +%%s%%N)'"}'
        i=$((i+1))
        sleep 0.5
      done
      """
          .formatted(MESSAGES);

  @Test
  void shouldDeliverTheEventsOfManyAgents() {
    try (Gateway gateway =
        Gateway.start(
            Map.of(
                "holdfast.agent.command", "sh -s --",
                "holdfast.agent.format", "droid",
                "holdfast.agent.max-sessions", "" + AGENTS))) {
      McpClient client = McpClient.at(gateway.url("/servers/agent/mcp")).ready();
      client.post(
          "{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"logging/setLevel\",\"params\":"
              + "{\"level\":\"notice\"}}");
      FrameStream stream = client.listen();
      for (int agent = 0; agent < AGENTS; agent++) {
        client.call("session_message", AgentClient.message(SCRIPT).toString()).events();
      }
      List<Double> millis = new ArrayList<>();
      while (millis.size() < AGENTS * MESSAGES) {
        String data = stream.event().data();
        Instant now = Instant.now();
        JsonNode event = AgentClient.parse(data.getBytes(UTF_8)).at("/params/data");
        if (event.path("type").asText().equals("message")) {
          long written = event.path("text").asLong();
          long read = now.getEpochSecond() * 1_000_000_000 + now.getNano();
          millis.add((read - written) / 1e6);
        }
      }

      Collections.sort(millis);
      assertThat(millis).hasSize(AGENTS * MESSAGES);
      LOG.infof(
          "agents=%d messages=%d p50=%.1fms p99=%.1fms max=%.1fms",
          AGENTS,
          millis.size(),
          millis.get(millis.size() / 2),
          millis.get(millis.size() * 99 / 100),
          millis.getLast());
    }
  }
}
