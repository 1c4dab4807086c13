package dev.holdfast.agent;

import static dev.holdfast.agent.AgentClient.arguments;
import static dev.holdfast.agent.AgentClient.message;
import static dev.holdfast.agent.AgentClient.named;
import static dev.holdfast.agent.AgentClient.poll;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.agent.AgentEvent.State;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Retention;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.local.server.LogLevelStore;
import dev.holdfast.upstream.stdio.CommandLine;
import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Agents as real processes. The test agent is a shell, and each prompt is the script that it runs:
 * it writes the lines of an agent.
 */
@Timeout(60)
class AgentUpstreamTest {

  private static final String INIT =
      "echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"d-1\"}'\n";
  private static final String DONE = "echo '{\"type\":\"completion\",\"finalText\":\"done\"}'\n";

  private static final Map<String, String> MAPPING =
      Map.of(
          "session", "/sid",
          "message", "/say",
          "tool", "/tool/name",
          "tool-status", "/tool/state",
          "tool-call", "/tool/id",
          "error", "/err",
          "result", "/result");

  private final List<AgentUpstream> upstreams = new ArrayList<>();
  private final EventLog log = log(1 << 20);

  @AfterEach
  void close() {
    upstreams.forEach(AgentUpstream::close);
    log.close();
  }

  private static EventLog log(long streamBytes) {
    Duration hour = Duration.ofHours(1);
    return new MemoryEventLog(
        new Retention(hour, hour, 10_000, streamBytes, hour, 1 << 24, 100),
        1 << 26,
        Long.MAX_VALUE,
        InstantSource.system());
  }

  private AgentUpstream upstream(AgentSettings.Kind kind, EventLog events) {
    return upstream(kind, events, 4, 1 << 20);
  }

  private AgentUpstream upstream(
      AgentSettings.Kind kind, EventLog events, int processes, int lineBytes) {
    StdioUpstreamSettings process =
        new StdioUpstreamSettings(
            CommandLine.parse("sh -s --"),
            Map.of("GIVEN", "yes"),
            null,
            Duration.ofMillis(500),
            new Channel.Settings(
                "agent", processes, 2, Duration.ofSeconds(5), Duration.ZERO, lineBytes, false));
    AgentUpstream created =
        new AgentUpstream(
            new AgentSettings(process, kind, MAPPING, List.of("--go-on", "{session}"), 2),
            events,
            new LogLevelStore.InMemory(),
            "1");
    upstreams.add(created);
    return created;
  }

  private AgentClient droid() {
    return new AgentClient(upstream(AgentSettings.Kind.DROID, log), log);
  }

  /** The types of events, each with its most telling component. */
  private static List<String> summary(List<JsonNode> events) {
    return events.stream()
        .map(event -> {
          String type = event.path("type").asText();
          return switch (type) {
            case "state" -> "state " + event.path("state").asText();
            case "tool" ->
                "tool " + event.path("tool").asText() + " " + event.path("status").asText();
            case "end" ->
                "end " + event.path("reason").asText() + " " + event.path("text").asText();
            case "raw" -> "raw " + event.path("line").asText();
            default -> type + " " + event.path("text").asText();
          };
        })
        .toList();
  }

  static List<Arguments> transcripts() {
    return List.of(
        Arguments.of(
            AgentSettings.Kind.DROID,
            """
            {"type":"system","subtype":"init","session_id":"id-1"}
            {"type":"message","role":"user","text":"hi"}
            {"type":"tool_call","id":"c1","toolName":"Read"}
            {"type":"tool_result","id":"c1","toolId":"Read","isError":true}
            {"type":"message","role":"assistant","text":"hello"}
            {"type":"error","message":"oops"}
            {"type":"completion","finalText":"bye"}
            """,
            List.of(
                "raw {\"type\":\"message\",\"role\":\"user\",\"text\":\"hi\"}",
                "tool Read started",
                "tool Read failed",
                "message hello",
                "error oops"),
            "--output-format stream-json --session-id id-1"),
        Arguments.of(
            AgentSettings.Kind.CLAUDE,
            """
            {"type":"system","subtype":"init","session_id":"id-1"}
            {"type":"assistant","message":{"content":[{"type":"thinking"},{"type":"text","text":"hello"},{"type":"tool_use","id":"c1","name":"Bash"}]}}
            {"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}}
            {"type":"rate_limit_event"}
            {"type":"result","subtype":"error_during_execution","is_error":true,"result":"bye"}
            """,
            List.of(
                "raw {\"type\":\"thinking\"}",
                "message hello",
                "tool Bash started",
                "tool Bash completed",
                "raw {\"type\":\"rate_limit_event\"}",
                "error bye"),
            "-p --output-format stream-json --verbose --resume id-1"),
        Arguments.of(
            AgentSettings.Kind.CODEX,
            """
            {"type":"thread.started","thread_id":"id-1"}
            {"type":"turn.started"}
            {"type":"item.started","item":{"id":"c1","type":"command_execution","status":"in_progress"}}
            {"type":"item.completed","item":{"id":"c1","type":"command_execution","status":"failed"}}
            {"type":"item.completed","item":{"id":"c2","type":"mcp_tool_call","server":"fs","tool":"read","status":"completed"}}
            {"type":"item.completed","item":{"id":"c3","type":"agent_message","text":"hello"}}
            {"type":"item.completed","item":{"id":"c4","type":"reasoning"}}
            {"type":"turn.failed","error":{"message":"bye"}}
            """,
            List.of(
                "tool command_execution started",
                "tool command_execution failed",
                "tool fs/read completed",
                "message hello",
                "raw {\"type\":\"item.completed\",\"item\":{\"id\":\"c4\",\"type\":\"reasoning\"}}",
                "error bye"),
            "--json resume id-1 -"),
        Arguments.of(
            AgentSettings.Kind.GENERIC,
            """
            {"sid":"id-1"}
            {"tool":{"name":"grep","state":"done","id":"c1"}}
            {"say":"hello"}
            not JSON
            {"err":"bad"}
            {"result":"bye"}
            """,
            List.of("tool grep completed", "message hello", "raw not JSON", "error bad"),
            "--go-on id-1"));
  }

  @ParameterizedTest
  @MethodSource("transcripts")
  void shouldReportWorkingStateToolsMessagesErrorsAndTheEnd(
      AgentSettings.Kind kind, String lines, List<String> expected, String nextArguments) {
    AgentClient client = new AgentClient(upstream(kind, log), log);

    String name = client.start("cat <<'END'\n" + lines + "END\n");
    List<JsonNode> events = client.pollToEnd(name, 0);

    List<String> summary = summary(events);
    assertThat(summary.subList(0, 2)).containsExactly("state starting", "state working");
    assertThat(events.get(1).path("agent_session").asText()).isEqualTo("id-1");
    assertThat(summary.subList(2, summary.size() - 2)).isEqualTo(expected);
    assertThat(summary.get(summary.size() - 2)).startsWith("end failed");
    assertThat(summary.getLast()).isEqualTo("state idle");
    assertThat(events)
        .extracting(event -> event.path("index").asInt())
        .containsExactlyElementsOf(IntStream.rangeClosed(1, events.size()).boxed().toList());

    // The next message continues the agent's own session.
    client.result(
        "session_message", message("echo \"{\\\"args\\\":\\\"$*\\\"}\"").put("session", name));
    assertThat(summary(client.pollToEnd(name, events.size())))
        .contains("raw {\"args\":\"" + nextArguments + "\"}", "end completed ");
  }

  @Test
  void shouldStreamWhatIsPolledWhateverIsReadFirst() {
    AgentClient client = droid();
    client.setLevel("debug");
    MessageSource stream = client.listen(null);
    String name =
        client.start(
            INIT
                + "i=0; while [ $i -lt 500 ]; do echo \"{\\\"n\\\":$i}\"; i=$((i+1)); done\n"
                + DONE);

    List<JsonNode> early = client.pollToEnd(name, 0);
    List<JsonNode> streamed = AgentClient.streamToEnd(stream);
    List<JsonNode> late = client.pollToEnd(name, 0);

    assertThat(early).hasSize(504);
    assertThat(streamed).isEqualTo(early);
    assertThat(late).isEqualTo(early);
  }

  @Test
  void shouldStreamOnlyWhatTheChosenLevelAdmits() {
    AgentUpstream upstream = upstream(AgentSettings.Kind.DROID, log);
    AgentClient silent = new AgentClient(upstream, log);
    MessageSource nothing = silent.listen(null);
    AgentClient errors = new AgentClient(upstream, log);
    errors.setLevel("error");
    MessageSource stream = errors.listen(null);
    String script = INIT + "echo '{\"type\":\"error\",\"message\":\"oops\"}'\n" + DONE;

    List<JsonNode> polled = silent.pollToEnd(silent.start(script), 0);
    errors.pollToEnd(errors.start(script), 0);

    assertThat(stream.take())
        .singleElement()
        .satisfies(message -> {
          JsonNode params = AgentClient.parse(message.payload()).path("params");
          assertThat(params.path("level").asText()).isEqualTo("error");
          assertThat(params.at("/data/text").asText()).isEqualTo("oops");
        });
    assertThat(summary(polled)).hasSize(5);
    // Nothing comes without a level: the reader waits until the stream is closed.
    Thread reader = Thread.startVirtualThread(nothing::take);
    await().until(() -> isWaiting(reader));
    nothing.close();
    await().until(() -> !reader.isAlive());
  }

  /** One client could open session after session until all agents were its own. */
  @Test
  void shouldLeaveAgentsForOtherClients() {
    AgentUpstream shared = upstream(AgentSettings.Kind.DROID, log);
    AgentClient first = new AgentClient(shared, log, "alice");
    AgentClient second = new AgentClient(shared, log, "alice");
    AgentClient bob = new AgentClient(shared, log, "bob");
    String _ = first.start("exec sleep 600");
    String _ = second.start("exec sleep 600");

    assertThat(second.refusal("session_message", message("true")))
        .contains("the most that one client may have");
    String _ = bob.start("exec sleep 600");

    first.attach().end();
    await().untilAsserted(() -> assertThat(second.start(DONE)).isNotEmpty());
  }

  /** Its threads would wait for as long as the client has asked. */
  @Test
  void shouldEndAPollWithItsSession() throws Exception {
    AgentClient client = droid();
    String name = client.start("exec sleep 600");
    Thread poll =
        Thread.startVirtualThread(
            () -> client.messages("session_events", poll(name, 1).put("wait_ms", 30_000)));
    MessageSource events = client.listen(null);
    Thread feed = Thread.startVirtualThread(events::take);
    await().until(() -> isWaiting(poll) && isWaiting(feed));
    long start = System.nanoTime();

    client.attach().end();
    poll.join();
    feed.join();

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
  }

  private static boolean isWaiting(Thread thread) {
    return thread.getState() == Thread.State.WAITING
        || thread.getState() == Thread.State.TIMED_WAITING;
  }

  @Test
  void shouldContinueTheStreamAfterTheLastMessage() {
    AgentClient client = droid();
    client.setLevel("debug");
    String name = client.start(INIT + DONE);
    String other = client.start("echo 1; echo 2; echo 3");
    client.pollToEnd(name, 0);
    client.pollToEnd(other, 0);
    List<UpstreamMessage> all = client.listen(null).take();

    for (int read = 1; read < all.size(); read++) {
      List<UpstreamMessage> rest = client.listen(all.get(read - 1).eventId()).take();

      assertThat(rest)
          .extracting(message -> new String(message.payload(), UTF_8))
          .containsExactlyElementsOf(
              all.subList(read, all.size()).stream()
                  .map(message -> new String(message.payload(), UTF_8))
                  .toList());
    }
  }

  @Test
  void shouldSayWhereToGoOnAfterAPurge() {
    EventLog small = log(3000);
    AgentClient client = new AgentClient(upstream(AgentSettings.Kind.DROID, small), small);
    client.setLevel("debug");
    String name =
        client.start("i=0; while [ $i -lt 100 ]; do echo \"{\\\"n\\\":$i}\"; i=$((i+1)); done");
    await()
        .until(
            () -> client.result("session_list", arguments()).at("/sessions/0/state").asText(),
            "idle"::equals);

    String refusal = client.refusal("session_events", poll(name, 0));

    assertThat(refusal)
        .matches("Events 1 to \\d+ of session A1 were purged\\. .*since_index \\d+\\.");
    long next = Long.parseLong(refusal.replaceAll(".*since_index (\\d+)\\.", "$1"));
    assertThat(next).isBetween(50L, 103L);
    List<JsonNode> rest = client.pollToEnd(name, next);
    assertThat(rest.getFirst().path("index").asLong()).isEqualTo(next + 1);
    // A stream says it too, and goes on by itself.
    List<UpstreamMessage> streamed = client.listen(null).take();
    assertThat(AgentClient.parse(streamed.getFirst().payload()).at("/params/data").toString())
        .contains("\"purged\"", "\"next_since_index\":" + next);
    small.close();
  }

  @Test
  void shouldReportALostAgentAndStartItAgain() {
    AgentUpstream upstream = upstream(AgentSettings.Kind.DROID, log);
    AgentClient client = new AgentClient(upstream, log);
    client.setLevel("debug");
    StreamWriter writer = log.open(new StreamRef(new LogKey(client.session()), "A7"), "");
    byte[] working = EventMessages.write(AgentEvent.state(State.WORKING, "d-7").at("A7", 1));
    writer.append(List.of(new NewEvent(working, null, false)));

    upstream.adopt(new SharedLog.AdoptedStream(writer, "", null));

    List<JsonNode> events = client.pollToEnd("A7", 0);
    assertThat(summary(events)).hasSize(2).last().asString().startsWith("lost ");
    assertThat(client.result("session_list", arguments()).toString())
        .contains("\"state\":\"lost\"", "\"agent_session\":\"d-7\"");
    JsonNode again = client.result("session_message", message("echo \"$*\"").put("session", "A7"));
    assertThat(again.path("since_index").asInt()).isEqualTo(2);
    assertThat(summary(client.pollToEnd("A7", 2)))
        .contains("raw --output-format stream-json --session-id d-7");
    assertThat(client.start("true")).isEqualTo("A8");
  }

  /** A long turn purges the state with which it began: the agent looked idle, and nothing ended. */
  @Test
  void shouldReportALostAgentWhoseStateIsPurged() {
    AgentUpstream upstream = upstream(AgentSettings.Kind.DROID, log);
    AgentClient client = new AgentClient(upstream, log);
    StreamWriter writer = log.open(new StreamRef(new LogKey(client.session()), "A1"), "");
    byte[] kept = EventMessages.write(AgentEvent.raw("kept").at("A1", 1));
    writer.append(List.of(new NewEvent(kept, null, false)));

    upstream.adopt(new SharedLog.AdoptedStream(writer, "", null));

    assertThat(client.result("session_list", arguments()).at("/sessions/0/state").asText())
        .isEqualTo("lost");
  }

  @Test
  void shouldRefuseMoreThanItsBounds() {
    AgentUpstream upstream = upstream(AgentSettings.Kind.DROID, log, 2, 1000);
    AgentClient client = new AgentClient(upstream, log);
    AgentClient other = new AgentClient(upstream, log);
    String first = client.start("sleep 1000");
    client.start("sleep 1000");

    assertThat(client.refusal("session_message", message("true"))).contains("2 agent sessions");
    assertThat(other.refusal("session_message", message("true"))).contains("All 2 agents");
    assertThat(client.refusal("session_message", message("true").put("session", first)))
        .contains("is working");
    assertThat(client.refusal("session_message", message("x".repeat(AgentTools.MAX_MESSAGE + 1))))
        .contains("at most 100,000");
    assertThat(client.refusal("session_events", poll(first, 0).put("wait_ms", 30_001)))
        .contains("wait_ms");
    assertThat(client.refusal("session_events", poll(first, 0).put("limit", 1001)))
        .contains("limit");
    assertThat(client.refusal("session_events", poll(first, 99))).contains("after the last event");
    assertThat(client.refusal("session_events", poll("A9", 0))).contains("no agent session A9");
    assertThat(client.refusal("session_events", poll("g", 0))).contains("no open agent session");
    assertThat(client.refusal("session_interrupt", named("A9"))).contains("A9");

    client.result("session_interrupt", named(first));
    client.pollToEnd(first, 0);
    String long1 = other.start("printf '%01001d\\n' 0; echo after");
    assertThat(summary(other.pollToEnd(long1, 0)))
        .contains("error A line of the agent is longer than 1000 bytes, and was dropped.")
        .contains("raw after");
  }

  @Test
  void shouldKillAnAgentWithItsChildren() throws Exception {
    AgentUpstream upstream = upstream(AgentSettings.Kind.DROID, log);
    AgentClient client = new AgentClient(upstream, log);
    String script = "sleep 1000 & echo $!; echo $$; wait";

    String interrupted = client.start(script);
    List<ProcessHandle> first = processes(client, interrupted);
    client.result("session_interrupt", named(interrupted));
    assertThat(summary(client.pollToEnd(interrupted, 3))).contains("end interrupted ");
    assertEnded(first);
    assertThat(client.refusal("session_interrupt", named(interrupted))).contains("not working");

    String closed = client.start(script);
    List<ProcessHandle> second = processes(client, closed);
    client.result("session_close", named(closed));
    assertThat(summary(client.pollToEnd(closed, 3))).contains("end closed ", "state closed");
    assertEnded(second);
    assertThat(client.refusal("session_message", message("true").put("session", closed)))
        .contains(closed);
    assertThat(client.result("session_events", poll(closed, 0)).path("events")).isNotEmpty();

    client.result("session_message", message(script).put("session", interrupted));
    List<ProcessHandle> third = processes(client, interrupted);
    client.attach().end();
    assertEnded(third);

    AgentClient last = new AgentClient(upstream, log);
    List<ProcessHandle> fourth = processes(last, last.start(script));
    upstream.close();
    assertThat(fourth).noneMatch(AgentUpstreamTest::runs);
  }

  private static List<ProcessHandle> processes(AgentClient client, String name) {
    List<ProcessHandle> found = new ArrayList<>();
    await()
        .until(() -> {
          long last =
              client
                  .result("session_list", arguments())
                  .path("sessions")
                  .findValues("session")
                  .size();
          assertThat(last).isPositive();
          found.clear();
          client
              .result("session_events", poll(name, 0).put("limit", 1000))
              .path("events")
              .forEach(
                  event -> ProcessHandle.of(event.path("line").asLong(-1)).ifPresent(found::add));
          return found.stream().filter(AgentUpstreamTest::runs).count() >= 2;
        });
    return found;
  }

  private static boolean runs(ProcessHandle process) {
    return process.isAlive() && process.info().command().isPresent();
  }

  private static void assertEnded(List<ProcessHandle> processes) {
    await().until(() -> processes.stream().noneMatch(AgentUpstreamTest::runs));
  }

  @Test
  void shouldReportProgressOfAWaitThatAskedForIt() {
    AgentClient client = droid();
    String name =
        client.start(
            "read go < /dev/null; sleep 0.2; echo"
                + " '{\"type\":\"tool_call\",\"toolName\":\"Read\"}'");

    List<JsonNode> messages =
        client.messages("session_events", poll(name, 1).put("wait_ms", 20_000));

    assertThat(messages).hasSizeGreaterThanOrEqualTo(2);
    assertThat(messages.getFirst().toString())
        .contains("notifications/progress", "\"progressToken\":\"p\"", "\"progress\":2");
  }

  @Test
  void shouldGiveAgentsOnlyTheEnvironmentOfStdioServers() {
    AgentClient client = droid();

    String name = client.start("echo \"given=$GIVEN java=$JAVA_HOME\"; exit 3");

    assertThat(summary(client.pollToEnd(name, 0)))
        .containsExactly(
            "state starting",
            "raw given=yes java=",
            "error The agent ended with exit code 3.",
            "end failed ",
            "state idle");
  }
}
