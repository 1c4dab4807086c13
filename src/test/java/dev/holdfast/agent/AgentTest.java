package dev.holdfast.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.budget.ByteBudget;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AgentTest {

  private static final Duration HOUR = Duration.ofHours(1);

  private final Semaphore free = new Semaphore(1);

  /**
   * The end of the session found no process, and the process started after it: nobody killed it.
   */
  @Test
  void shouldKillAProcessThatStartsWhileItsSessionEnds() throws Exception {
    try (EventLog log =
        new MemoryEventLog(
            new Retention(HOUR, HOUR, 100, 1 << 16, HOUR, 1 << 20, 10),
            1 << 20,
            InstantSource.system())) {
      log.begin("s");
      EndingFormat format = new EndingFormat();
      Agent agent =
          new Agent(
              "A1",
              new AgentLog(log, log.open(new StreamRef("s", "A1"), "")),
              new Agent.Resources(program(), format, free, ByteBudget.ofHeap(8, Long.MAX_VALUE)),
              new ChangeSignal());
      format.agent = agent;

      long _ = agent.message("hi");

      assertThat(agent.awaitEnd(Duration.ofSeconds(10))).isTrue();
      free.acquire();
    }
  }

  private static StdioUpstreamSettings program() {
    return new StdioUpstreamSettings(
        "agent",
        List.of("sleep", "20"),
        Map.of(),
        null,
        1,
        1,
        Duration.ofMillis(500),
        HOUR,
        Duration.ZERO,
        1000,
        false);
  }

  /** Ends the session just before the process starts. */
  private static final class EndingFormat implements AgentFormat {
    private @Nullable Agent agent;

    @Override
    public List<String> command(List<String> base, @Nullable String session, String prompt) {
      if (agent != null) {
        agent.abandon();
      }
      return base;
    }

    @Override
    public Parser newParser() {
      return (JsonNode line) -> List.of();
    }
  }
}
