package dev.holdfast.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.agent.AgentEvent.State;
import dev.holdfast.budget.ByteBudget;
import dev.holdfast.budget.Shares;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class AgentTest {

  private static final Duration HOUR = Duration.ofHours(1);

  private static final Retention RETENTION =
      new Retention(HOUR, HOUR, 100, 1 << 16, HOUR, 1 << 20, 10);

  private final Semaphore free = new Semaphore(1);

  private volatile boolean failsToParse;

  /**
   * The end of the session found no process, and the process started after it: nobody killed it.
   */
  @Test
  void shouldKillAProcessThatStartsWhileItsSessionEnds() throws Exception {
    try (EventLog log =
        new MemoryEventLog(RETENTION, 1 << 20, Long.MAX_VALUE, InstantSource.system())) {
      log.begin(new LogKey("s"), "");
      EndingFormat format = new EndingFormat();
      Agent agent =
          new Agent(
              "A1",
              new AgentLog(log, log.open(new StreamRef(new LogKey("s"), "A1"), "")),
              new Agent.Resources(
                  program(),
                  () -> format,
                  free,
                  new Shares<>(1),
                  ByteBudget.ofHeap(8, Long.MAX_VALUE)),
              Agent.NOBODY,
              new ChangeSignal());
      format.agent = agent;

      long _ = agent.message("hi");

      assertThat(agent.awaitEnd(Duration.ofSeconds(10))).isTrue();
      free.acquire();
    }
  }

  /** The wait for the store held the lock that every stop needs. */
  @Test
  @Timeout(60)
  void shouldStopAnAgentWhileTheStoreIsAway() throws Exception {
    FaultyWriter writer = new FaultyWriter();
    Agent agent = agent(writer, List.of("sh", "-c", "echo '{}'; exec sleep 600"));
    long _ = agent.message("hi");
    await().until(() -> agent.events().last() == 2);
    writer.failure = new LogException.StoreUnavailable("away", null);
    int before = writer.attempts.get();
    Thread messages = Thread.ofVirtual().start(agent::interrupt);
    assertThat(messages.join(Duration.ofSeconds(20))).isTrue();

    // The process has ended before its last events are in the log.
    free.acquire();
    await().until(() -> writer.attempts.get() > before + 1);
    assertThat(agent.state().isRunning()).isTrue();
    free.release();
    Thread close = Thread.ofVirtual().start(agent::close);
    writer.failure = null;
    assertThat(close.join(Duration.ofSeconds(20))).isTrue();

    await().until(() -> agent.state() == State.CLOSED);
    assertThat(writer.texts()).contains("\"interrupted\"", "\"closed\"");
  }

  /** The wait goes on with every attempt, also when nobody needs the events any more. */
  @Test
  @Timeout(60)
  void shouldGiveUpTheStoreWhenItsSessionEnds() throws Exception {
    FaultyWriter writer = new FaultyWriter();
    writer.failure = new LogException.StoreUnavailable("away", null);
    Agent agent = agent(writer, List.of("sleep", "600"));
    Thread message = Thread.ofVirtual().start(() -> agent.message("hi"));
    await().until(() -> writer.attempts.get() > 1);

    agent.abandon();

    assertThat(message.join(Duration.ofSeconds(20))).isTrue();
    assertThat(agent.awaitEnd(Duration.ofSeconds(20))).isTrue();
    free.acquire();
  }

  /** Such an agent was listed as working for ever, and refused every message. */
  @Test
  @Timeout(60)
  void shouldNotWorkAfterAnUnexpectedFailure() throws Exception {
    FaultyWriter writer = new FaultyWriter();
    Agent agent = agent(writer, List.of("sh", "-c", "echo '{}'; exec sleep 600"));
    try (LoggedLines log = new LoggedLines(Agent.class)) {
      failsToParse = true;
      long _ = agent.message("hi");
      await().until(() -> agent.state() == State.LOST);
      assertThat(log.lines())
          .singleElement()
          .asString()
          .contains("agent session failed unexpectedly");
    }
    assertThat(writer.texts()).contains("\"type\":\"lost\"");
    failsToParse = false;

    long since = agent.message("once more");

    assertThat(since).isEqualTo(2);
    await().until(() -> agent.events().last() == 4);
    agent.interrupt();
    await().until(() -> agent.state() == State.IDLE);
  }

  @Test
  @Timeout(60)
  void shouldNotWorkAfterItsLastEventsWereRefused() throws Exception {
    FaultyWriter writer = new FaultyWriter();
    Agent agent = agent(writer, List.of("sleep", "600"));
    long _ = agent.message("hi");
    try (LoggedLines log = new LoggedLines(Agent.class)) {
      writer.failure = new IllegalStateException("unexpected");
      agent.interrupt();
      await().until(() -> agent.state() == State.LOST);
      assertThat(log.lines())
          .singleElement()
          .asString()
          .contains("agent session failed unexpectedly");
    }
    writer.failure = null;

    agent.close();

    assertThat(agent.state()).isEqualTo(State.CLOSED);
  }

  private Agent agent(StreamWriter writer, List<String> command) {
    AgentFormat format =
        new AgentFormat() {
          @Override
          public List<String> command(List<String> base, @Nullable String session, String prompt) {
            return command;
          }

          @Override
          public List<AgentEvent> parse(JsonNode line) {
            if (failsToParse) {
              throw new IllegalStateException("unexpected");
            }
            return List.of();
          }
        };
    EventLog unread =
        new MemoryEventLog(RETENTION, 1 << 20, Long.MAX_VALUE, InstantSource.system());
    return new Agent(
        "A1",
        new AgentLog(unread, writer),
        new Agent.Resources(
            program(), () -> format, free, new Shares<>(1), ByteBudget.ofHeap(8, Long.MAX_VALUE)),
        Agent.NOBODY,
        new ChangeSignal());
  }

  /** Stores events, unless it fails. */
  private static final class FaultyWriter implements StreamWriter {
    final List<NewEvent> stored = new CopyOnWriteArrayList<>();
    final AtomicInteger attempts = new AtomicInteger();
    volatile @Nullable RuntimeException failure;

    String texts() {
      StringBuilder texts = new StringBuilder();
      stored.forEach(event -> texts.append(new String(event.payload(), UTF_8)).append('\n'));
      return texts.toString();
    }

    @Override
    public StreamRef stream() {
      return new StreamRef(new LogKey("s"), "A1");
    }

    @Override
    public Position append(List<NewEvent> events) {
      attempts.incrementAndGet();
      RuntimeException now = failure;
      if (now != null) {
        throw now;
      }
      stored.addAll(events);
      return new Position(1, stored.size());
    }

    @Override
    public boolean deliverUnlogged(List<NewEvent> events) {
      return false;
    }

    @Override
    public void recordSkipped() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void recordUpstreamCursor(String upstreamId) {
      throw new UnsupportedOperationException();
    }
  }

  private static StdioUpstreamSettings program() {
    return new StdioUpstreamSettings(
        List.of("sleep", "20"),
        Map.of(),
        null,
        Duration.ofMillis(500),
        new Channel.Settings("agent", 1, 1, HOUR, Duration.ZERO, 1000, false));
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
    public List<AgentEvent> parse(JsonNode line) {
      return List.of();
    }
  }
}
